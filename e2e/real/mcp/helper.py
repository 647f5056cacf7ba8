"""An assistant on pydantic-ai: its tools are those of an MCP server for Kubernetes, its task is its argument."""

from __future__ import annotations

import asyncio
import os
import sys

from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset

_PASSED = ("PATH", "HOME", "KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT")
_SERVER = {
    "command": "/usr/local/bin/kubernetes-mcp-server",
    "args": [],
    "env": {name: os.environ[name] for name in _PASSED if name in os.environ},
}


async def main() -> None:
    """Do the task and print the answer."""
    tools = MCPToolset({"mcpServers": {"kubernetes": _SERVER}})
    agent = Agent(f"openai-chat:{os.environ['MODEL']}", toolsets=[tools])
    async with agent:
        done = await agent.run(sys.argv[1])
    print(done.output)


if __name__ == "__main__":
    asyncio.run(main())
