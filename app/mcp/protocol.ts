/**
 * The Model Context Protocol, by its official SDK: one message in, one answer out. Nothing is kept between two
 * messages. Clients of the revision of 2026 say all about themselves in each message; those of earlier revisions begin
 * with `initialize`, which is answered and forgotten. This file is loaded with the first message to a project that has
 * `mcp`.
 */
import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerOptions,
  type Tool,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { AgentTool } from "../../core/agents/agent-tools.ts";

/** What one caller is offered. */
export interface AgentService {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  /** What agents should know before they call a tool. */
  readonly instructions: string;
  /** The names of the tools. */
  readonly names: readonly AgentTool["name"][];
  tools(): Promise<readonly AgentTool[]>;
  /** Never rejects: an error is a result. */
  call(tool: AgentTool["name"]): Promise<ToolResult>;
}

export interface ToolResult {
  /** JSON of an object: the text that the agent reads. */
  readonly text: string;
  /** The same as a value. */
  readonly content: Record<string, unknown>;
  readonly isError: boolean;
}

/** A message as it came, with the headers that are a part of the protocol. */
export interface AgentMessage {
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  /** A JSON object. */
  readonly message: unknown;
}

/** The headers that the protocol reads. */
const ownHeaders = ["mcp-protocol-version", "mcp-method", "mcp-name"];

export async function answerAgent(
  { url, headers, message }: AgentMessage,
  service: AgentService,
): Promise<Response> {
  // All answers are JSON, so it does not matter which of the two that the protocol asks for a client accepts.
  const own = new Headers({
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
  });
  for (const name of ownHeaders) {
    const value = headers.get(name);
    if (value !== null) own.set(name, value);
  }
  const request = new Request(url, { method: "POST", headers: own });
  const create = (): Server => createServer(service);
  if (await isLegacyRequest(request, message)) return answerLegacy(request, message, create());
  const handler = createMcpHandler(create, { legacy: "reject", maxSubscriptions: 0 });
  return handler.fetch(request, { parsedBody: message });
}

async function answerLegacy(request: Request, message: unknown, server: Server): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody: message });
  } finally {
    await server.close();
  }
}

/** The SDK validates what a client enters into forms, and there are none. Its own validator takes long to load. */
const noValidator: NonNullable<ServerOptions["jsonSchemaValidator"]> = {
  getValidator: () => () => ({ valid: false, data: undefined, errorMessage: "There are no forms" }),
};

function createServer(service: AgentService): Server {
  const { name, title, version, instructions } = service;
  const server = new Server(
    { name, title, version },
    { capabilities: { tools: {} }, instructions, jsonSchemaValidator: noValidator },
  );
  server.setRequestHandler("tools/list", async () => ({
    tools: (await service.tools()).map((tool) => ({ ...tool })) as Tool[],
  }));
  server.setRequestHandler("tools/call", async ({ params }) => {
    const tool = service.names.find((one) => one === params.name);
    if (tool === undefined) {
      const known = service.names.join(", ") || "none for these credentials";
      const sent = JSON.stringify(params.name.slice(0, 100));
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `Unknown tool ${sent}; there are ${known}`,
      );
    }
    const { text, content, isError } = await service.call(tool);
    return { content: [{ type: "text", text }], structuredContent: content, isError };
  });
  return server;
}
