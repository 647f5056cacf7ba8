"""One module per report format, all fed from one model."""
