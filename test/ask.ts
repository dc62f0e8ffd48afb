/**
 * From a Corefile's text and a question's to the reply's: how nearly all tests of plugins ask.
 * @module
 */

import assert from 'node:assert/strict'
import { NO_FILES } from '../src/corefile/lexeme-stream.ts'
import { parseCorefile } from '../src/corefile/parse-corefile.ts'
import { ConfigError } from '../src/corefile/problem.ts'
import type { Directive, ServerBlock } from '../src/corefile/server-block.ts'
import { parseQuery } from '../src/dns/wire/query.ts'
import { createResolver } from '../src/resolver/chain/create-resolver.ts'
import type { Listener } from '../src/resolver/chain/listener.ts'
import type { Resolver } from '../src/resolver/chain/resolver.ts'
import type { Client } from '../src/resolver/contract/client.ts'
import { FakeHost, type FakeHostOptions } from './fake-host.ts'
import { formatReply, parseQuestion, type QuestionWords } from './message-text.ts'
import { ResolverClient } from './resolver-client.ts'

/** Who asks when a question does not say. */
const CLIENT: Client = { address: '198.51.100.7', port: 4242, transport: 'udp' }
const WORDS: ReadonlySet<string> = new Set(
  'edns do nsid padding cookie option ad cd nord id udp tcp tls https from port'.split(' '),
)

/** A compiled Corefile and the runtime it is in. */
export class Server {
  readonly resolver: Resolver
  readonly host: FakeHost
  /** Resolves when the plugins have read their files; rejects with the mistakes in them. */
  readonly prepared: Promise<void>
  private readonly readsFiles: boolean

  constructor(resolver: Resolver, host: FakeHost) {
    this.resolver = resolver
    this.host = host
    this.prepared = resolver.prepare()
    const zones = resolver.listeners.flatMap((listener) => listener.zones)
    this.readsFiles = zones.some(({ chain }) => chain.plugins.some(({ prepare }) => prepare))
    // Who asks gets the error.
    this.prepared.catch(() => undefined)
  }

  /**
   * Asks `NAME [CLASS] TYPE` and returns the reply's lines, `[]` when there is none. Words behind
   * the type, as dig has them: `+edns[=SIZE] +do +nsid +padding +cookie +option=CODE:HEX +ad +cd
   * +nord +id=N`; how
   * to ask: `+udp +tcp +tls +https`; from where: `+from=ADDRESS`; which port: `+port=N`. Checks
   * that the reply has the query's ID and its question, byte for byte.
   */
  async ask(question: string): Promise<string[]> {
    const reply = await this.askBytes(question)
    return reply === undefined ? [] : formatReply(reply)
  }

  /** As `ask`, with the reply's bytes. */
  async askBytes(question: string): Promise<Uint8Array | undefined> {
    const { message, words } = parseQuestion(question)
    for (const word of words.keys()) assert.ok(WORDS.has(word), `"+${word}" means nothing`)
    const reply = await this.answer(message, clientOf(words), this.listener(words))
    if (reply === undefined) return undefined
    const query = parseQuery(message)
    const end = query.kind === 'query' ? query.questionEnd : 12
    assert.deepEqual(reply.subarray(0, 2), message.subarray(0, 2), 'the ID comes back')
    assert.deepEqual(reply.subarray(12, end), message.subarray(12, end), 'the question comes back')
    return reply
  }

  /**
   * Queries as `ask` does, and returns whether the reply came on the fast path; checks that the
   * slow path has the same bytes.
   */
  async isQuick(question: string): Promise<boolean> {
    if (this.readsFiles) await this.prepared
    const { message, words } = parseQuestion(question)
    const client = new ResolverClient(this.resolver, clientOf(words), this.listener(words))
    const { fast, slow } = await client.bothWays(message)
    if (fast === undefined) return false
    assert.deepEqual(fast, slow)
    return true
  }

  /** Sends bytes. */
  async answer(
    message: Uint8Array,
    client: Client = CLIENT,
    listener: Listener = this.listener(new Map()),
  ): Promise<Uint8Array | undefined> {
    if (this.readsFiles) await this.prepared
    return new ResolverClient(this.resolver, client, listener).answer(message)
  }

  private listener(words: QuestionWords): Listener {
    const wanted = words.get('port')
    const found = this.resolver.listeners.find(
      ({ port }) => wanted === undefined || port === Number(wanted),
    )
    if (found === undefined) throw new RangeError(`Nothing listens on port ${wanted}`)
    return found
  }
}

/** Compiles a Corefile. @throws {ConfigError} when it is wrong */
export function serve(corefile: string, options: FakeHostOptions = {}): Server {
  const host = new FakeHost(options)
  return new Server(createResolver(parseBlocks(corefile), host), host)
}

/** Reads a Corefile without imports. */
export function parseBlocks(corefile: string): ServerBlock[] {
  return parseCorefile(corefile, 'Corefile', NO_FILES)
}

/** Reads the only directive of a block for the root. */
export function parseDirective(line: string): Directive {
  const [directive] = parseBlocks(block(line))[0]?.directives ?? []
  if (directive === undefined) throw new TypeError(`No directive: ${line}`)
  return directive
}

/** Compiles a Corefile that is wrong and returns what is said about it, line by line. */
export function problemsOf(corefile: string, options: FakeHostOptions = {}): string[] {
  try {
    serve(corefile, options)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.message.split('\n')
  }
  return []
}

/** As `problemsOf`, with the mistakes in files that plugins read. */
export async function problemsIn(
  corefile: string,
  options: FakeHostOptions = {},
): Promise<string[]> {
  try {
    await serve(corefile, options).prepared
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.message.split('\n')
  }
  return []
}

/** A server block for the root; its directives begin at line 2, column 3. */
export function block(...directives: readonly string[]): string {
  return ['. {', ...directives.map((line) => `  ${line}`), '}'].join('\n')
}

/** A directive with options; these begin at the line below it, column 5 within `block`. */
export function directive(head: string, ...options: readonly string[]): string {
  return [`${head} {`, ...options.map((line) => `    ${line}`), '  }'].join('\n')
}

function clientOf(words: QuestionWords): Client {
  const transports = ['tcp', 'tls', 'https'] as const
  const transport = transports.find((one) => words.has(one)) ?? 'udp'
  // As the servers of streams of `serve`; a gateway transfers no zone.
  const stream = transport === 'tls' ? { sendAhead: () => Promise.resolve() } : {}
  return { ...CLIENT, address: words.get('from') ?? CLIENT.address, transport, ...stream }
}
