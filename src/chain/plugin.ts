/**
 * What a plugin is: it gets a request and the rest of the chain, and says what comes back.
 * @module
 */
import type { Problem } from '../corefile/problem.ts'
import type { Directive, ServerBlock } from '../corefile/server-block.ts'
import type { EdnsOption } from '../dns/edns.ts'
import type { Reply, ResourceRecord } from '../dns/message.ts'
import type { Query } from '../dns/query.ts'
import type { ReplyWriter } from '../dns/reply-writer.ts'
import type { Visibility } from '../snapshot/read/visibility.ts'
import type { Host, UpstreamExchange } from './host.ts'

/** Who asks, and how. */
export type Client = {
  readonly address: string
  readonly port: number
  readonly transport: 'udp' | 'tcp' | 'tls' | 'https'
  /**
   * The server's own address and port that were asked, where the runtime knows them; `::` over UDP
   * when all addresses are listened on, as CoreDNS has it.
   */
  readonly localAddress?: string
  readonly localPort?: number
  /** What it may see; everything without. */
  readonly view?: View
  /** Bytes that it takes of a reply to a query without EDNS, where that is known; else all. */
  readonly bytesMax?: number
  /**
   * Sends a message ahead of the reply, and resolves when there is room for the next: for
   * transfers, which have many (RFC 5936 §2.2). Absent where a query has one reply.
   */
  readonly sendAhead?: (message: Uint8Array) => Promise<void>
}

/**
 * What a client may see; a client without one sees everything. Whatever it may not see answers as
 * if it were not there.
 */
export type View = {
  /** The same for views of the same, different for others: part of what caches go by. */
  readonly id: string
  /** Whether it sees a cluster below an origin, absolute and in lower case. */
  readonly seesOrigin: (cluster: string | undefined, origin: Uint8Array) => boolean
  /** Whether it may ask for a name at all: whether an origin at or above the name is its own. */
  readonly seesName: (query: Query) => boolean
  /** The namespaces that it sees; `undefined` for all. */
  readonly namespaces: Visibility | undefined
  /** Whether it may have other servers asked. */
  readonly mayRecurse: boolean
}

/** Bounds of a reply, which plugins may tighten; 512 at least. */
export type RequestLimits = {
  /** Largest UDP reply that suits the client. */
  udpBytes: number
  /** UDP size to advertise to it. */
  advertisedBytes: number
  /** What goes behind each message of the reply. */
  seal?: Seal
}

/** Signs the messages of a reply, one after the other. */
export type Seal = {
  /** Bytes that it adds to a message. */
  readonly bytes: number
  readonly add: (message: Uint8Array) => Uint8Array
}

/** What a message's signature comes to. */
export type Secured = {
  /** What to refuse the message with; `undefined` when it may go on. */
  readonly rcode: number | undefined
  /** Signs the reply; `undefined` when that is not to be signed. */
  readonly seal: Seal | undefined
}

/** What a request, its copies and what is told of it afterwards have in common. */
export type Trace = {
  /** Which plugin the request came to last. */
  plugin: string
  /** Takes down how long each plugin takes; absent for most requests. */
  spans?: Spans
}

/** Which plugins a request goes through, and how long each takes. */
export type Spans = {
  /** Identifier of the whole, in hexadecimal digits. */
  readonly traceId: string
  /** Notes that a plugin begins. @returns what is to be called when it ends */
  readonly begin: (plugin: string) => () => void
}

/** A query and who sent it: a request, or what there is before and after one. */
export type Asked = {
  readonly query: Query
  readonly client: Client
  /** That of the request; absent when there is none. */
  readonly trace?: Trace
}

/** A query on its way through a chain. */
export type Request = {
  /** The query, this request's own. */
  readonly query: Query
  /** The client's query, where another is asked in its place. */
  readonly clientQuery?: Query
  /** The name as it was asked, letter case kept. */
  readonly name: Uint8Array
  /** The name in lower case. */
  readonly lowerName: Uint8Array
  readonly type: number
  readonly class: number
  readonly client: Client
  /** What the reply may be like. */
  readonly limits: RequestLimits
  /**
   * Codes of options that this server has put into the query: they go to upstreams also where they
   * are between neighbours.
   */
  readonly ownOptions?: ReadonlySet<number>
  readonly trace: Trace
  /** Asks the whole server for another name, on behalf of this request. */
  readonly lookup: (name: Uint8Array, type: number) => MaybePromise<Outcome>
}

/**
 * An error without a message of its own: the server makes one, and no plugin on the way changes it.
 */
export type Failure = {
  readonly kind: 'failure'
  readonly rcode: number
  readonly options: readonly EdnsOption[]
  /** RD; as the query has it when left out. */
  readonly recursionDesired?: boolean | undefined
  /** For `errors`: why, for people. */
  readonly reason?: string
}

/** No answer at all. */
export type Drop = { readonly kind: 'drop' }

/** All records of a zone, in the order of RFC 5936 §2.2, to be sent in many messages. */
export type ZoneTransfer = {
  readonly kind: 'transfer'
  readonly records: Iterable<ResourceRecord>
}

/** What comes back from a chain. */
export type Outcome = Reply | Failure | Drop | ZoneTransfer

/** A value now or later; most answers are there at once. */
export type MaybePromise<T> = T | Promise<T>

/** The rest of a chain. */
export type Next = (request: Request) => MaybePromise<Outcome>

/** A query that was answered, for plugins that only look on. */
export type Observation = Asked & {
  /** The reply is the first `replyBytes` bytes; 0 when there was no answer. */
  readonly reply: Uint8Array
  readonly replyBytes: number
  /** The plugin deepest in the chain that had a part in it. */
  readonly plugin: string
  readonly durationMs: number
}

/** What a reply on the quick way is to be like. One object for all queries: keep none of it. */
export type QuickReply = {
  isUdp: boolean
  /** What the client may see. */
  view: View | undefined
  /** Bytes that it may have. */
  bytesMax: number
  /** UDP size to advertise. */
  udpBytes: number
  /** Size to pad to a multiple of (RFC 8467), 0 for none. */
  paddingBlock: number
  /** Draws at which address of several to begin, modulo their number; the first without. */
  rotation: (() => number) | undefined
  /** Whether to leave out what an answer can do without. */
  isMinimal: boolean
  /** Whether all records get one TTL, that of the least, within the bounds below. */
  hasTtlBounds: boolean
  answerTtlMin: number
  answerTtlMax: number
  denialTtlMin: number
  denialTtlMax: number
  /** Header bits to set, and to clear. */
  flagsSet: number
  flagsCleared: number
}

/**
 * A plugin's part on the quick way: from a query's bytes to a reply's without a request, a promise
 * or any other object, for what a snapshot has an answer to. Nothing here allocates.
 */
export type QuickPart = {
  /** Whether the plugin has to see a query itself, which then goes the long way. */
  readonly concerns?: (query: Query, client: Client) => boolean
  /** Says once, when the chain is compiled, what all replies are to be like. */
  readonly always?: (how: QuickReply) => void
  /** Says what the reply to a query is to be like. */
  readonly prepare?: (how: QuickReply, query: Query) => void
  /** Learns that a query was answered. */
  readonly answered?: (query: Query) => void
  /**
   * Whether the reply that was written may go out as it is; if not, the query goes the long way.
   * For plugins that are concerned by what is answered.
   */
  readonly accepts?: (query: Query, client: Client, reply: Uint8Array) => boolean
  /** Writes the reply and returns its size; 0 when the query has to go the long way. */
  readonly answer?: (query: Query, reply: ReplyWriter, how: QuickReply) => number
}

/** What a plugin says of an answer, for people; made of what JSON has. */
export type Fact = Readonly<Record<string, unknown>>

/** A plugin as it was configured for one server block. */
export type Plugin = {
  readonly name: string
  /** Answers, or has the rest of the chain answer. Absent: the plugin has no part in answers. */
  readonly serve?: (request: Request, next: Next) => MaybePromise<Outcome>
  /** Its part on the quick way, which ends before a plugin that answers and has none. */
  readonly quick?: QuickPart
  /** Looks at every query that the block answered. Keeps none of it. */
  readonly observe?: (observation: Observation) => void
  /** Looks at what a peer asks upstreams. Keeps none of it. */
  readonly observeUpstream?: (exchange: UpstreamExchange) => void
  /**
   * Whether a name, and with it the whole zone of its server block, is in a zone of the plugin's
   * that a client may not see.
   */
  readonly hides?: (view: View, query: Query, blockZone: Uint8Array) => boolean
  /** Whether the plugin asks other servers for names that are not the client's own to see. */
  readonly relays?: (view: View) => boolean
  /** Whether a query is for this server block at all; other blocks of its zones come after it. */
  readonly admits?: (query: Query, client: Client) => boolean
  /**
   * Names to try below, in order, for a client that asked for a name with the first of them: what
   * the search list of its machine has (resolv.conf(5)), absolute, the root last. `undefined` when
   * nothing is known of the client. Asked for every query, also on the quick way.
   */
  readonly searchPath?: (query: Query, client: Client) => readonly Uint8Array[] | undefined
  /**
   * The records of a zone of the plugin's for a transfer, the SOA record first and last; that alone
   * and once when `serial` is the current one (RFC 1995 §4). `undefined` when it has no such zone.
   */
  readonly transfer?: (
    zone: Uint8Array,
    serial: number | undefined,
  ) => MaybePromise<Iterable<ResourceRecord> | undefined>
  /** Learns that a zone of a peer has come or changed, absolute and in lower case. */
  readonly zoneChanged?: (zone: Uint8Array) => void
  /** Judges by its signature a message that takes no way through the chain, such as a notice. */
  readonly secures?: (query: Query) => Secured
  /**
   * Learns from another server that a zone has changed (NOTIFY, RFC 1996). `undefined` when it is
   * none of the plugin's; `ignored` when the server has no say in it, and so gets no answer.
   */
  readonly notified?: (query: Query, client: Client) => 'taken' | 'ignored' | undefined
  /** What the plugin knows of a query, by the label that CoreDNS's `metadata` gives it. */
  readonly metadata?: (label: string, asked: Asked) => string | undefined
  /**
   * What it goes by for a query that it was asked, for the client: of what that may not see, the
   * same as of what there is not.
   */
  readonly explain?: (query: Query, client: Client) => MaybePromise<readonly Fact[]>
  /** Begins what runs beside queries; called when the server answers. */
  readonly start?: () => void
  /** Ends it; the plugin is not used again. */
  readonly stop?: () => void
  /** Whether the plugin can answer; for `ready`. Absent: always. */
  readonly isReady?: () => boolean
}

/** Bounds of clients' connections. Those that are left out are the runtime's own. */
export type ConnectionBounds = {
  /** Time for the first message, in milliseconds. */
  readonly readMs?: number
  /** Time for the client to take what was written. */
  readonly writeMs?: number
  /** Time for each further message. */
  readonly idleMs?: number
  /** Messages on one connection; Infinity for any number. */
  readonly queriesMax?: number
}

/** Whether a plugin that once was ready is looked at again. */
export type ReadyMonitor = 'until-ready' | 'continuously'

/**
 * What is asked of clients' certificates, in CoreDNS's words: none, one whatever it is, or one that
 * our authorities have signed.
 */
export type ClientAuth = 'nocert' | 'request' | 'require' | 'verify_if_given' | 'require_and_verify'

/** What a server needs for TLS: files as PEM text, and what it asks of clients. */
export type TlsService = {
  readonly cert: string
  readonly key: string
  /** Authorities of clients' certificates; those of the machine when left out. */
  readonly ca?: string
  readonly clientAuth: ClientAuth
}

/** A thing beside answering that a server block asks its runtime for. */
export type Feature =
  | { readonly kind: 'health'; readonly address: string; readonly lameduckMs: number }
  | { readonly kind: 'ready'; readonly address: string; readonly monitor: ReadyMonitor }
  | { readonly kind: 'metrics'; readonly address: string }
  | { readonly kind: 'tls'; readonly service: TlsService }
  | { readonly kind: 'https'; readonly connectionsMax: number }
  | { readonly kind: 'reload'; readonly intervalMs: number; readonly jitterMs: number }
  | { readonly kind: 'timeouts'; readonly bounds: ConnectionBounds }
  | {
      readonly kind: 'bind'
      /** Addresses or names of interfaces. */
      readonly addresses: readonly string[]
      readonly except: readonly string[]
    }

/** What a plugin's directives amount to. */
export type Configured = {
  readonly plugins?: readonly Plugin[]
  readonly features?: readonly Feature[]
  /** Things that work but may surprise, for people. */
  readonly notices?: readonly Problem[]
}

/** An address of a server: how CoreDNS's metrics spell it, and which of the machine's it is. */
export type ServerAddress = {
  /** `dns://:53`, `dns://169.254.20.10:53`. */
  readonly name: string
  /** '' for all. */
  readonly address: string
}

/** Where a plugin is configured. */
export type SetupContext = {
  readonly host: Host
  readonly block: ServerBlock
  /** The block's zones, absolute and in lower case. */
  readonly zones: readonly Uint8Array[]
  /** The first of the block's addresses as CoreDNS's metrics spell it: `dns://:53`. */
  readonly server: string
  /** All of them: more than one where `bind` says so. */
  readonly servers: readonly ServerAddress[]
  /** A file's path as the block means it: a relative one is below the folder of its `root`. */
  readonly pathOf: (path: string) => string
  /**
   * Secrets of transactions (TSIG) by the `nameKey` of their names: those of all blocks at the
   * block's ports, one map for each port.
   */
  readonly secrets: readonly Map<string, Uint8Array>[]
  /** What the block's `view` is called, '' without one: a label of CoreDNS's metrics. */
  readonly view: string
  /** Asks the whole server, on nobody's behalf; not before it has started. */
  readonly lookup: (name: Uint8Array, type: number) => MaybePromise<Outcome>
  /** All plugins of the block in the order in which they act; none until it is compiled. */
  readonly peers: () => readonly Plugin[]
}

/**
 * Configures a plugin from all directives of its name in one server block, at least one.
 * @throws {ConfigError} with the place of what is wrong
 */
export type Setup = (
  directives: readonly [Directive, ...Directive[]],
  context: SetupContext,
) => Configured

/** Makes the outcome of a bare response code. */
export function failure(
  rcode: number,
  reason?: string,
  options: readonly EdnsOption[] = [],
): Failure {
  return reason === undefined
    ? { kind: 'failure', rcode, options }
    : { kind: 'failure', rcode, options, reason }
}

/** Goes on with a value now, or when it is there. */
export function andThen<T, U>(
  value: MaybePromise<T>,
  step: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return value instanceof Promise ? value.then(step) : step(value)
}
