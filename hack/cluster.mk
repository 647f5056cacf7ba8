# The local cluster and the images; included by the Makefile. See hack/README.md.

LOCALCLUSTER := PYTHONPATH=hack python3 -m localcluster

.PHONY: binaries images images-real cluster-up cluster-down cluster-status

binaries: ## Build the cluster's programs into the cache and dist/bin (about 12 minutes the first time)
	@$(LOCALCLUSTER) binaries

images: ## Build the images that changed and load them into the cluster
	@$(LOCALCLUSTER) images

images-real: ## Build the images of agents that others made, for `make agents-real` (two minutes the first time)
	@$(LOCALCLUSTER) images agent-holmes agent-shell agent-mcp

cluster-up: ## Start a cluster to try things on, or repair the one there is (OASIS_CLUSTER=context uses yours)
	@$(LOCALCLUSTER) up

cluster-down: ## Remove the local cluster; caches stay
	@$(LOCALCLUSTER) down

cluster-status: ## Show what runs of the local cluster
	@$(LOCALCLUSTER) status
