"""What is done once with evidence as it is captured: registered values are searched for and taken out."""
