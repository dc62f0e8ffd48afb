/**
 * `kubedoh export`: watches a cluster and publishes its names to a gateway.
 * @module
 */
import { dirname } from 'node:path'
import { sleep } from '../../cluster/api/backoff.ts'
import { hostBoundsFor } from '../../cluster/api/host-budget.ts'
import { measuredApi, throttledApi } from '../../cluster/api/measured-api.ts'
import { connectionOf, type ObjectApi } from '../../cluster/api/object-api.ts'
import { readObjectFiles } from '../../cluster/api/object-files.ts'
import { RecordStatusWriter } from '../../cluster/api/record-status.ts'
import {
  createObjectSource,
  createWatchSource,
  type ExportSource,
} from '../../cluster/follow/export-source.ts'
import { namingOptions, publishedTrees } from '../../cluster/follow/naming.ts'
import type { BuiltSnapshot } from '../../cluster/follow/snapshot-builder.ts'
import type { ClusterObject } from '../../cluster/objects/objects.ts'
import type { Log } from '../../dns/telemetry/log.ts'
import { Metrics } from '../../dns/telemetry/metrics.ts'
import { ApiIssuer } from '../../exporter/api-issuer.ts'
import { ConflictEvents } from '../../exporter/conflict-events.ts'
import { Exporter, type ExporterOptions } from '../../exporter/exporter.ts'
import { createGatewayClient, type GatewayClientOptions } from '../../exporter/gateway-client.ts'
import { Publisher, type PublishReport } from '../../exporter/publisher.ts'
import { storeCompiledCode } from '../../server/node/compile-cache.ts'
import { elapsed } from '../../server/node/elapsed.ts'
import { outsideAddresses } from '../../server/node/local-addresses.ts'
import { watchLoop } from '../../server/node/loop-watch.ts'
import { memoryBytes } from '../../server/node/memory-bytes.ts'
import { allowBufferGarbage, startMemoryTrim } from '../../server/node/memory-trim.ts'
import { announce, CommandError, createLog, type Output } from '../../server/node/output.ts'
import { requireTextFile } from '../../server/node/read-files.ts'
import { untilSignal } from '../../server/node/signals.ts'
import { CLUSTER_ID } from '../../snapshot/format/manifest.ts'
import { importPrivateKey, type PrivateKey } from '../../snapshot/format/signature.ts'
import type { Input } from '../flags/flags.ts'
import { readGatewayUrl, trimToken } from '../flags/operator-call.ts'
import { createCanary } from './export-canary.ts'
import { createClientTokens } from './export-client-tokens.ts'
import { loadExportDirectives } from './export-directive.ts'
import { createElection, leaseOf } from './export-election.ts'
import { exportedKeys } from './export-keys.ts'
import { listenMiniK8s, miniK8sPlace } from './export-mini-k8s.ts'
import { createRbac, withRbac } from './export-rbac.ts'
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

/** How long `--once` waits for the cluster to be read. */
const ONCE_MS = 60_000

/** A running export. */
type RunningExport = {
  /** The report of the first publication. */
  readonly first: Promise<PublishReport>
  /** Publishes once, when the cluster has been read. */
  readonly publishOnce: () => Promise<void>
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

/** Starts to watch the cluster; without `--once` also publishes until `stop`. */
export async function startExport(input: Input, output: Output): Promise<RunningExport> {
  const isOnce = input.isSet('once')
  const log = createLog(output)
  const [metrics, ended] = [new Metrics(), new AbortController()]
  const first = Promise.withResolvers<PublishReport>()
  const lease = leaseOf(input)
  const isLeader = (): boolean => election?.isLeader ?? true
  const address = gatewayOf(input)
  const trace = createExportTrace(input, address, log)
  const publisher = await createPublisher(input, address, { isLeader, trace })
  const onChange = (): void => exporter.mark()
  const toSource = { log, metrics, onChange, trace }
  const { source: named, live, keys, mini } = await openSource(input, toSource)
  const rbac = createRbac(input, live?.lists, { log, onChange })
  const source = withRbac(named, rbac)
  const reports = live && createReports(live.api, { log, isLeader, signal: ended.signal })
  const issuer = live && createIssuer(live.api, log, onChange)
  const tokens = createClientTokens(input, { api: live?.api, gateway: address, log, isLeader })
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
  const election =
    lease && live && createElection(lease, { api: live.api, log, metrics, onElected })
  const canary =
    live?.origin &&
    createCanary(input, {
      origin: live.origin,
      log,
      metrics,
      isLeader: () => isLeader() && exporter.isReady,
      change: (service) => {
        live.set(service)
        exporter.mark()
      },
    })
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
  return {
    first: first.promise,
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
  readonly isLeader: () => boolean
  readonly signal: AbortSignal
}

/** Creates what the exporter reports on objects: conditions of DNSRecords, and Events. */
function createReports(api: ObjectApi, { log, isLeader, signal }: ReportParts) {
  const onError = warnWith(log)
  const statuses = new RecordStatusWriter({ api, now: Date.now, signal, onError })
  const events = new ConflictEvents({ api, isLeader, onError, sleep, elapsed, now: Date.now })
  return {
    take: ({ verdicts = [], conflicts = [] }: BuiltSnapshot): void => {
      statuses.take(verdicts)
      events.update(conflicts)
    },
    run: () => events.run(signal),
    settled: () => statuses.settled(),
  }
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

function listenPlace(input: Input): string {
  return input.isSet('listen') ? input.text('listen') : LISTEN_DEFAULT
}

/** @throws {CommandError} when the cluster has not been read in time */
async function checkRead(source: ExportSource, signal: AbortSignal): Promise<void> {
  if (await untilRead(source, signal, ONCE_MS)) return
  const limit = `${ONCE_MS / 1000} s`
  throw new CommandError(`Cannot read the cluster within ${limit}; see the errors above`)
}

/** @throws {CommandError} for an invalid identifier or URL, and without a token */
function gatewayOf(input: Input): GatewayClientOptions {
  const cluster = input.text('cluster')
  if (!CLUSTER_ID.test(cluster)) {
    throw new CommandError(`--cluster "${cluster}": use at most 63 characters of a-z, 0-9 and "-"`)
  }
  const token = trimToken(input.env('KUBEDOH_TOKEN'), 'KUBEDOH_TOKEN')
  if (token === '') throw new CommandError(`KUBEDOH_TOKEN is not set; ${keysHint(cluster)}`)
  return { url: readGatewayUrl(input), cluster, token }
}

async function createPublisher(
  input: Input,
  address: GatewayClientOptions,
  { isLeader, trace }: Pick<SourceParts, 'trace'> & { readonly isLeader: () => boolean },
): Promise<Publisher> {
  const { cluster } = address
  return new Publisher({
    cluster,
    key: await readSigningKey(input, cluster),
    gateway: createGatewayClient({ ...address, ...trace?.client }),
    isLeader,
    now: Date.now,
  })
}

async function readSigningKey(input: Input, cluster: string): Promise<PrivateKey> {
  const path = input.text('signing-key')
  const text = path === '' ? input.env('KUBEDOH_SIGNING_KEY') : requireTextFile(path)
  const from = path === '' ? 'KUBEDOH_SIGNING_KEY' : path
  if (text === '') throw new CommandError(`${from} is not set; ${keysHint(cluster)}`)
  const key = await importPrivateKey(text.trim())
  if (key !== undefined) return key
  throw new CommandError(`${from} is not an Ed25519 key as printed by "kubedoh keys ${cluster}"`)
}

function keysHint(cluster: string): string {
  return `create it with "kubedoh keys ${cluster}"`
}

type SourceParts = {
  readonly log: Log
  readonly metrics: Metrics
  readonly onChange: () => void
  readonly trace: ExportTrace | undefined
}

/** A source, and what else there is if it watches an API server. */
type OpenedSource = {
  readonly source: ExportSource
  readonly live: LiveParts | undefined
  readonly keys: ReturnType<typeof exportedKeys>
  /** What serves the REST paths of mini-k8s, if they are switched on. */
  readonly mini?: Readonly<Parameters<typeof listenMiniK8s>> | undefined
}
type LiveParts = {
  readonly api: ObjectApi
  /** The same, with the limits of the directive. */
  readonly lists: ObjectApi
  readonly set: (object: ClusterObject) => void
  /** First origin of the cluster's names. */
  readonly origin: Uint8Array | undefined
}

async function openSource(
  input: Input,
  { log, metrics, onChange, trace }: SourceParts,
): Promise<OpenedSource> {
  const { directive, trees: own, etcd } = loadExportDirectives(input.text('conf'))
  const localAddresses = outsideAddresses(input.env('LOCAL_IPS'))
  const naming = namingOptions(directive, localAddresses)
  const trees = publishedTrees(directive, {
    localAddresses,
    cluster: input.text('cluster'),
    trees: own,
  })
  const onWarning = warnWith(log)
  const isOnce = input.isSet('once')
  const file = input.text('etcd')
  const keys = exportedKeys(etcd, { file, isOnce, log, metrics, onChange })
  const named = { naming, trees, keys: keys?.tree, onWarning, now: Date.now }
  const paths = input.texts('objects')
  const place = miniK8sPlace(input)
  if (paths.length > 0) {
    const { objects, warnings } = readObjectFiles(paths)
    for (const warning of warnings) onWarning(warning)
    const source = createObjectSource(objects, named)
    const mini = place && ([place, { file: place.file, objects, source, onChange }] as const)
    return { source, live: undefined, keys, mini }
  }
  const { openApi } = await import('../../cluster/follow/watch.ts')
  const from = { kubeconfig: input.text('kubeconfig'), folder: dirname(input.text('conf')) }
  const opened = openApi(connectionOf(directive, from))
  const measured = measuredApi(trace?.around(opened) ?? opened, metrics, elapsed)
  const runtime = { metrics, sleep, now: elapsed }
  const api = throttledApi(measured, directive.apiLimits, runtime)
  const source = createWatchSource({
    ...named,
    api,
    metrics,
    onChange,
    onError: (message) => log({ level: 'error', message }),
    sleep,
    random: Math.random,
    elapsed,
    hostBounds: hostBoundsFor(memoryBytes()),
  })
  const [origin] = naming.origins
  // Renewals of the Lease must not wait behind lists.
  return { source, live: { api: measured, lists: api, set: source.set, origin }, keys }
}
