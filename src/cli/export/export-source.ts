/**
 * What `kubedoh export` publishes: the objects of files, or of an API server.
 * @module
 */
import { dirname } from 'node:path'
import { sleep } from '../../cluster/api/backoff.ts'
import { hostBoundsFor } from '../../cluster/api/host-budget.ts'
import { measuredApi, throttledApi } from '../../cluster/api/measured-api.ts'
import { connectionOf, type ObjectApi } from '../../cluster/api/object-api.ts'
import { readObjectFiles } from '../../cluster/api/object-files.ts'
import {
  createObjectSource,
  createWatchSource,
  type ExportSource,
} from '../../cluster/follow/export-source.ts'
import { namingOptions, publishedTrees } from '../../cluster/follow/naming.ts'
import type { ClusterObject } from '../../cluster/objects/objects.ts'
import type { Log } from '../../dns/telemetry/log.ts'
import type { Metrics } from '../../dns/telemetry/metrics.ts'
import { elapsed } from '../../server/node/elapsed.ts'
import { outsideAddresses } from '../../server/node/local-addresses.ts'
import { memoryBytes } from '../../server/node/memory-bytes.ts'
import type { Input } from '../flags/flags.ts'
import { loadExportDirectives } from './export-directive.ts'
import { exportedKeys } from './export-keys.ts'
import { type listenMiniK8s, miniK8sPlace } from './export-mini-k8s.ts'
import type { ExportTrace } from './export-trace.ts'

/** A source, and what else there is if it watches an API server. */
export type OpenedSource = {
  readonly source: ExportSource
  readonly live: LiveParts | undefined
  readonly keys: ReturnType<typeof exportedKeys>
  /** What serves the REST paths of mini-k8s, if they are switched on. */
  readonly mini?: Readonly<Parameters<typeof listenMiniK8s>> | undefined
}

/** What a source reports to. */
export type SourceParts = {
  readonly log: Log
  readonly metrics: Metrics
  readonly onChange: () => void
  readonly trace: ExportTrace | undefined
}

type LiveParts = {
  readonly api: ObjectApi
  /** The same, with the limits of the directive. */
  readonly lists: ObjectApi
  readonly set: (object: ClusterObject) => void
  /** First origin of the cluster's names. */
  readonly origin: Uint8Array | undefined
}

/**
 * Opens what the flags and the Corefile name.
 * @throws {CommandError} for a file or a connection that cannot be used
 * @throws {ConfigError} for a directive that cannot be exported
 */
export async function openSource(
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
  const onWarning = (message: string): void => log({ level: 'warning', message })
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
