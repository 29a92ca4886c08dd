/** @deskwire/mcp: the desk for agents, by the Model Context Protocol. It knows the service by its public API alone. */
export { createMcp, type Mcp, type McpParts, type Session } from './server.ts'
export type { EventSubject, Kind } from './tool.ts'
