"""The warm pool of an Environment: blank control planes that were booted before anybody asks for one."""
