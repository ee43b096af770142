import type {
  CallToolResult,
  RequestId,
  ToolAnnotations,
  Tool as ToolListing,
} from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'

/** A call of a tool: who hears of it while it runs. */
export interface Call {
  /** The id of the JSON-RPC request. */
  id: RequestId
  /** Fires when nobody waits for the result any more. */
  signal: AbortSignal
  /** Tells the client that the call is alive, where it asked to be told. */
  progress(message: string): Promise<void>
}

/** A tool, apart from what it works on. */
export interface Tool<Context> {
  name: string
  title: string
  description: string
  input: z.ZodType
  annotations: ToolAnnotations
  /** `args` have been parsed by `input`. */
  run(context: Context, args: never, call: Call): Promise<CallToolResult>
}

/** A tool with what it works on, as a server lists and calls it. */
export interface BoundTool {
  listing: ToolListing
  call(args: unknown, call: Call): Promise<CallToolResult>
}

export function defineTool<Context, Input extends z.ZodType>(
  tool: Omit<Tool<Context>, 'input' | 'run'> & {
    input: Input
    run(context: Context, args: z.output<Input>, call: Call): Promise<CallToolResult>
  },
): Tool<Context> {
  return tool
}

export function bindTool<Context>(tool: Tool<Context>, context: Context): BoundTool {
  return {
    listing: listingOf(tool),
    async call(args, call) {
      const parsed = tool.input.safeParse(args ?? {})
      return parsed.success
        ? tool.run(context, parsed.data as never, call)
        : toolError(faultsOf(parsed.error))
    },
  }
}

export function listingOf({ name, title, description, input, annotations }: Tool<never>): ToolListing {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input' })
  return {
    name,
    title,
    description,
    inputSchema: schema as ToolListing['inputSchema'],
    annotations: { title, ...annotations },
  }
}

/** What the model reads, and the same as data. */
export function toolResult(text: string, structuredContent?: Record<string, unknown>): CallToolResult {
  return { content: [{ type: 'text', text }], ...(structuredContent ? { structuredContent } : {}) }
}

/** An expected failure. The text says what to do next. */
export function toolError(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}

function faultsOf({ issues }: z.ZodError): string {
  const faults = issues
    .slice(0, 10)
    .map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message))
  return `INVALID_INPUT: The arguments do not fit. ${faults.join('. ')}. Correct them and call the tool again.`
}
