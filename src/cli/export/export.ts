/**
 * `kubedoh export`: watches a cluster and publishes its names to a gateway.
 * @module
 */
import { sleep } from '../../cluster/api/backoff.ts'
import type { ObjectApi } from '../../cluster/api/object-api.ts'
import { RecordStatusWriter } from '../../cluster/api/record-status.ts'
import type { ExportSource } from '../../cluster/follow/export-source.ts'
import type { BuiltSnapshot } from '../../cluster/follow/snapshot-builder.ts'
import type { Log } from '../../dns/telemetry/log.ts'
import { Metrics } from '../../dns/telemetry/metrics.ts'
import { ApiIssuer } from '../../exporter/api-issuer.ts'
import type { Canary } from '../../exporter/canary.ts'
import type { ClientTokens } from '../../exporter/client-tokens.ts'
import { ConflictEvents } from '../../exporter/conflict-events.ts'
import { Exporter, type ExporterOptions } from '../../exporter/exporter.ts'
import { createGatewayClient } from '../../exporter/gateway-client.ts'
import { Publisher, type PublishReport } from '../../exporter/publisher.ts'
import { storeCompiledCode } from '../../server/node/compile-cache.ts'
import { elapsed } from '../../server/node/elapsed.ts'
import { watchLoop } from '../../server/node/loop-watch.ts'
import { allowBufferGarbage, startMemoryTrim } from '../../server/node/memory-trim.ts'
import { announce, CommandError, createLog, type Output } from '../../server/node/output.ts'
import { untilSignal } from '../../server/node/signals.ts'
import type { Input } from '../flags/flags.ts'
import { type Destination, readDestination } from './export-address.ts'
import { createCanary } from './export-canary.ts'
import { createClientTokens } from './export-client-tokens.ts'
import { createElection, ELECTS_PUBLISHER, ELECTS_REPORTER, leaseOf } from './export-election.ts'
import { listenMiniK8s } from './export-mini-k8s.ts'
import { createRbac, withRbac } from './export-rbac.ts'
import { type OpenedSource, openSource } from './export-source.ts'
import { listenStatus } from './export-status.ts'
import { createExportTrace, type ExportTrace } from './export-trace.ts'

/**
 * Minimum interval between the starts of publications: a rollout is many changes. A distant gateway
 * takes longer than this for one, and the next follows at once.
 */
const INTERVAL_MS = 100
/** Interval of confirmations of unchanged names; after a minute they are stale at the gateway. */
const CONFIRM_MS = 15_000
const POLL_MS = 50
const LISTEN_DEFAULT = '127.0.0.1:9154'

/**
 * How long `ready` waits for the list of ClientTokens once the gateway has the names: the
 * definition of these objects, or the right to list them, may be missing for good.
 */
const TOKENS_WAIT_MS = 10_000

/** How long `--once` waits for the cluster to be read. */
const ONCE_MS = 60_000

/** A running export. */
export type RunningExport = {
  /** The report of the first publication. */
  readonly first: Promise<PublishReport>
  /** Publishes once, when the cluster has been read. */
  readonly publishOnce: () => Promise<void>
  /**
   * Resolves when the gateway has the names, and the list of ClientTokens if this process alone
   * sends one.
   */
  readonly ready: Promise<void>
  /** Publishes pending changes and stops. */
  readonly stop: () => Promise<void>
}

/** Runs the command: publishes once, or until SIGINT or SIGTERM. */
export async function runExport(input: Input, output: Output): Promise<void> {
  const running = await startExport(input, output)
  void running.first.then(({ generation, records }) => {
    const what = `${records} records of cluster ${input.text('cluster')}`
    const where = `${input.text('gateway')}, generation ${generation}`
    announce(output, `ready: published ${what} to ${where}`)
    storeCompiledCode()
    allowBufferGarbage()
    void watchLoop(input.env('KUBEDOH_SLOW_TURNS'), createLog(output))
  })
  const stopTrim = startMemoryTrim()
  try {
    if (input.isSet('once')) await running.publishOnce()
    else await untilSignal()
  } finally {
    stopTrim()
    await running.stop()
  }
}

/** The gateway in the same process: each has one exporter, which publishes to it alone. */
export type OwnGateway = Destination & {
  readonly metrics: Metrics
  /**
   * Whether other gateways have the same list of tokens. Then the elected one sends ClientTokens:
   * one that its API server does not reach would bring back what was deleted.
   */
  readonly sharesTokens: boolean
}

/**
 * Starts to watch the cluster; without `--once` also publishes until `stop`.
 * @param own the gateway of this process; that of the flags when left out
 */
export async function startExport(
  input: Input,
  output: Output,
  own?: OwnGateway,
): Promise<RunningExport> {
  const isOnce = input.isSet('once')
  const log = createLog(output)
  const [metrics, ended] = [own?.metrics ?? new Metrics(), new AbortController()]
  const first = Promise.withResolvers<PublishReport>()
  const lease = leaseOf(input)
  const isElected = (): boolean => election?.isLeader ?? true
  const isLeader = own === undefined ? isElected : () => true
  const trace = createExportTrace(input, log)
  const destination = own ?? (await readDestination(input))
  const publisher = createPublisher(destination, isLeader, trace)
  const onChange = (): void => exporter.mark()
  const toSource = { log, metrics, onChange, trace }
  const { source: named, live, keys, mini } = await openSource(input, toSource)
  const rbac = createRbac(input, live?.lists, { log, onChange })
  const source = withRbac(named, rbac)
  const reports = live && createReports(live.api, { log, isElected, signal: ended.signal })
  const issuer = live && createIssuer(live.api, log, onChange)
  const { address: gateway } = destination
  const sends = { isLeader: own?.sharesTokens === true ? isElected : isLeader, isElected }
  const tokens = createClientTokens(input, { api: live?.api, gateway, log, ...sends })
  const parts = {
    ...{ source, publisher, metrics, isLeader, log, trace: trace?.publications },
    onAcknowledged: (built: BuiltSnapshot): void => reports?.take(built),
    tokenIssuer: () => issuer?.current,
    rights: () => rbac?.current,
  }
  const exporter = createExporter(parts, first.resolve)
  keys?.start(ended.signal)
  const onElected = (): void => {
    publisher.forget()
    exporter.mark()
    tokens?.elected()
  }
  const messages = own === undefined ? ELECTS_PUBLISHER : ELECTS_REPORTER
  const election =
    lease && live && createElection(lease, { api: live.api, log, metrics, messages, onElected })
  // It times the way to a gateway elsewhere.
  const canary =
    own === undefined ? canaryOf(input, live, { exporter, log, metrics, isLeader }) : undefined
  const status = await listenStatus(isOnce ? '' : listenPlace(input), {
    metrics,
    isReady: () => exporter.isReady,
    state: () => (isLeader() ? '' : `, follows ${election?.leader || 'no leader yet'}`),
  })
  const listener = mini && (await listenMiniK8s(...mini))
  const candidacy = new AbortController()
  const elected = election?.run(candidacy.signal)
  const followed = source.run(ended.signal)
  // The API server's answers take a while.
  if (isLeader()) void publisher.prepare(ended.signal)
  const published = isOnce ? Promise.resolve() : exporter.run(ended.signal)
  const measured = isOnce ? undefined : canary?.run(ended.signal)
  const reported = isOnce ? undefined : reports?.run()
  const identified = [issuer?.run(ended.signal), tokens?.run(ended.signal)]
  // Lists mark their changes before the watches are open; publishing waits for the watches.
  const isRead = !isOnce && untilRead(source, ended.signal)
  if (isRead) void isRead.then((is) => is && exporter.mark())
  const mayFollow = own?.sharesTokens === true && election !== undefined
  const hasTokens = mayFollow ? undefined : untilSent(tokens, ended.signal)
  return {
    first: first.promise,
    ready: first.promise.then(() => hasTokens),
    publishOnce: async () => {
      await checkRead(source, ended.signal)
      await exporter.publish()
      await reports?.settled()
    },
    stop: async () => {
      ended.abort()
      await Promise.all([followed, published, measured, reported, ...identified])
      candidacy.abort()
      await elected
      await Promise.all([status?.close(), listener?.close()])
      trace?.stop()
    },
  }
}

function canaryOf(
  input: Input,
  live: OpenedSource['live'],
  {
    exporter,
    isLeader,
    ...parts
  }: { exporter: Exporter; log: Log; metrics: Metrics; isLeader: () => boolean },
): Canary | undefined {
  if (live?.origin === undefined) return undefined
  return createCanary(input, {
    ...parts,
    origin: live.origin,
    isLeader: () => isLeader() && exporter.isReady,
    change: (service) => {
      live.set(service)
      exporter.mark()
    },
  })
}

function warnWith(log: Log): (message: string) => void {
  return (message) => log({ level: 'warning', message })
}

/** Most clusters have no clients for whom it matters, so a failure is no warning. */
function createIssuer(api: ObjectApi, log: Log, onChange: () => void): ApiIssuer {
  const onError = (message: string): void => log({ level: 'info', message })
  return new ApiIssuer({ api, sleep, onChange, onError })
}

type ReportParts = {
  readonly log: Log
  readonly isElected: () => boolean
  readonly signal: AbortSignal
}

/** Creates what the exporter reports on objects: conditions of DNSRecords, and Events. */
function createReports(api: ObjectApi, { log, isElected, signal }: ReportParts) {
  const onError = warnWith(log)
  const statuses = new RecordStatusWriter({ api, now: Date.now, signal, onError })
  const events = new ConflictEvents({
    api,
    isLeader: isElected,
    onError,
    sleep,
    elapsed,
    now: Date.now,
  })
  return {
    take: ({ verdicts = [], conflicts = [] }: BuiltSnapshot): void => {
      if (isElected()) statuses.take(verdicts)
      events.update(conflicts)
    },
    run: () => events.run(signal),
    settled: () => statuses.settled(),
  }
}

/** @param isLeader whether this process publishes: of several exporters, the elected one does */
function createPublisher(
  { address, key }: Destination,
  isLeader: () => boolean,
  trace: ExportTrace | undefined,
): Publisher {
  const { cluster } = address
  const gateway = createGatewayClient(trace?.aroundClient(address) ?? address)
  return new Publisher({ cluster, key, gateway, isLeader, now: Date.now })
}

type ExporterParts = Pick<
  ExporterOptions,
  'source' | 'publisher' | 'metrics' | 'trace' | 'onAcknowledged' | 'tokenIssuer' | 'rights'
> & {
  readonly isLeader: () => boolean
  readonly log: Log
}

/** @param onFirst called with the report of the first publication */
function createExporter(
  { log, ...parts }: ExporterParts,
  onFirst: (report: PublishReport) => void,
): Exporter {
  let hasPublished = false
  return new Exporter({
    ...parts,
    intervalMs: INTERVAL_MS,
    confirmMs: CONFIRM_MS,
    sleep,
    random: Math.random,
    now: Date.now,
    elapsed,
    onPublished: (report) => {
      if (hasPublished && !report.isConfirmation) {
        log({ level: 'info', message: 'published', ...report })
      }
      hasPublished = true
      onFirst(report)
    },
    onError: (message) => log({ level: 'error', message }),
  })
}

/** Waits until the cluster has been read and is watched; false after `waitMs` or an abort. */
async function untilRead(
  source: ExportSource,
  signal: AbortSignal,
  waitMs = Infinity,
): Promise<boolean> {
  const deadlineMs = elapsed() + waitMs
  while (source.confirmedMs() === undefined) {
    if (signal.aborted || deadlineMs < elapsed()) return false
    await sleep(POLL_MS, signal)
  }
  return true
}

/** Waits until the gateway has ClientTokens; at most {@link TOKENS_WAIT_MS}. */
async function untilSent(tokens: ClientTokens | undefined, signal: AbortSignal): Promise<void> {
  if (tokens !== undefined) await Promise.race([tokens.sent, sleep(TOKENS_WAIT_MS, signal)])
}

function listenPlace(input: Input): string {
  return input.isSet('listen') ? input.text('listen') : LISTEN_DEFAULT
}

/** @throws {CommandError} when the cluster has not been read in time */
async function checkRead(source: ExportSource, signal: AbortSignal): Promise<void> {
  if (await untilRead(source, signal, ONCE_MS)) return
  const limit = `${ONCE_MS / 1000} s`
  throw new CommandError(`Cannot read the cluster within ${limit}; see the errors above`)
}
