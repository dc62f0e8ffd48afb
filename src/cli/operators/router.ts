/**
 * `kubedoh router`: proxies the paths of HostRoutes to their Services.
 * @module
 */
import { dirname, resolve } from 'node:path'
import { sleep } from '../../cluster/api/backoff.ts'
import { measuredApi } from '../../cluster/api/measured-api.ts'
import type { ApiConnection, ObjectApi } from '../../cluster/api/object-api.ts'
import { readObjectFiles } from '../../cluster/api/object-files.ts'
import type { RouteTable } from '../../cluster/rules/route-table.ts'
import { parseAddress } from '../../dns/names/address.ts'
import { Metrics } from '../../dns/telemetry/metrics.ts'
import { httpRouteTarget } from '../../operators/router/http-routes.ts'
import { Nginx } from '../../operators/router/nginx.ts'
import { formatNginx, type NginxOptions } from '../../operators/router/nginx-config.ts'
import { withDistinctNames } from '../../operators/router/nginx-names.ts'
import { nginxTarget } from '../../operators/router/nginx-target.ts'
import {
  type Applied,
  RoutedObjects,
  Router,
  type RouteTarget,
  routeWarnings,
} from '../../operators/router/router.ts'
import type { K8sGatewayOptions } from '../../resolver/plugins/k8s-gateway/options.ts'
import { elapsed } from '../../server/node/elapsed.ts'
import { announce, CommandError, createLog, type Output } from '../../server/node/output.ts'
import { untilSignal } from '../../server/node/signals.ts'
import { parseListenAddress } from '../../server/sockets/listen-address.ts'
import { loadHostsDirective } from '../export/export-directive.ts'
import { listenStatus } from '../export/export-status.ts'
import type { Input } from '../flags/flags.ts'

/** Most characters of the folder: the path of a Unix socket has at most 107. */
const FOLDER_CHARS_MAX = 90
const HTTP_DEFAULT = ':80'
const NGINX_ENDED = 'nginx has ended; with --objects, kubedoh does not start it again'

/** Runs the command until SIGINT or SIGTERM; with `--print` prints the configuration and exits. */
export async function runRouterNginx(input: Input, output: Output): Promise<void> {
  const options = nginxOptions(input)
  const routing = openRouting(input, output)
  const mark: { router?: Router } = {}
  if (input.isSet('print')) {
    const ended = new AbortController()
    const print = (table: RouteTable): Promise<Applied> => {
      const { hosts, verdicts } = withDistinctNames(table)
      output.stdout.write(formatNginx(hosts, options).text)
      for (const line of routeWarnings(verdicts)) routing.warn(line)
      ended.abort()
      return Promise.resolve({ verdicts: [] })
    }
    await followRoutes(routing, { target: { apply: print }, ended, mark })
    return
  }
  const ended = new AbortController()
  let isApplied = false
  const over = Promise.withResolvers<CommandError | undefined>()
  const nginx = new Nginx({
    program: input.env('KUBEDOH_NGINX') || 'nginx',
    folder: options.folder,
    isAttached: input.isSet('attach'),
    onError: routing.fail,
    onExit: () => (isApplied ? over.resolve(new CommandError(NGINX_ENDED)) : mark.router?.mark()),
    sleep,
    elapsed,
  })
  void untilSignal().then(() => over.resolve(undefined))
  void over.promise.then(() => ended.abort())
  try {
    await nginx.resume(ended.signal)
    await followRoutes(routing, { target: nginxTarget(nginx, options), ended, mark })
    // Files are applied once: after that, a supervisor restarts the command, and nginx with it.
    isApplied = true
    const error = await over.promise
    if (error !== undefined) throw error
  } finally {
    await nginx.stop()
  }
}

/**
 * Runs the command until SIGINT or SIGTERM.
 * @throws {CommandError} if the Corefile names no Gateway as the router
 */
export async function runRouterGateway(input: Input, output: Output): Promise<void> {
  const routing = openRouting(input, output)
  const { router } = routing.directive.tree
  if (router.kind !== 'Gateway') {
    const wanted = '"router Gateway NAMESPACE/NAME" in k8s_gateway'
    throw new CommandError(`${input.text('conf')}: the routes need a Gateway, ${wanted}`)
  }
  const { namespace, name } = router
  const ended = new AbortController()
  const signal = untilSignal().finally(() => ended.abort())
  const cluster = await openCluster(routing)
  const target = httpRouteTarget(cluster.api, { namespace, name })
  await followCluster(routing, cluster, { target, ended, mark: {} })
  await signal
}

/** What the routers of all kinds need. */
type Routing = {
  readonly input: Input
  readonly output: Output
  readonly directive: K8sGatewayOptions
  readonly warn: (message: string) => void
  readonly fail: (message: string) => void
}

function openRouting(input: Input, output: Output): Routing {
  const log = createLog(output)
  return {
    input,
    output,
    directive: loadHostsDirective(input.text('conf')),
    warn: (message) => log({ level: 'warning', message }),
    fail: (message) => log({ level: 'error', message }),
  }
}

type Following = {
  readonly target: RouteTarget
  readonly ended: AbortController
  /** Gets the router, if there is an API server to follow. */
  readonly mark: { router?: Router }
}

/** Applies the routes of files once, or follows those of an API server until the end. */
async function followRoutes(routing: Routing, following: Following): Promise<void> {
  const paths = routing.input.texts('objects')
  if (paths.length > 0) await applyFiles(paths, routing, following)
  else await followCluster(routing, await openCluster(routing), following)
}

/** @throws {CommandError} if the router does not take the routes */
async function applyFiles(
  paths: readonly string[],
  { directive, warn, output }: Routing,
  { target, ended }: Following,
): Promise<void> {
  const { objects, warnings } = readObjectFiles(paths)
  for (const warning of warnings) warn(warning)
  const routed = new RoutedObjects()
  for (const object of objects) routed.set(object)
  const table = routed.table(directive.tree)
  const { verdicts, problem } = await target.apply(table, ended.signal)
  if (ended.signal.aborted) return
  for (const line of routeWarnings(verdicts)) warn(line)
  if (problem !== undefined) throw new CommandError(problem)
  announce(output, readyLine(table))
}

/** An API server, and the metrics of the requests to it. */
type MeasuredCluster = { readonly api: ObjectApi; readonly metrics: Metrics }

async function openCluster({ input, directive }: Routing): Promise<MeasuredCluster> {
  const { openApi } = await import('../../cluster/follow/watch.ts')
  const metrics = new Metrics()
  return { api: measuredApi(openApi(placeOf(input, directive)), metrics, elapsed), metrics }
}

async function followCluster(
  { input, output, directive, warn, fail }: Routing,
  { api, metrics }: MeasuredCluster,
  { target, ended, mark }: Following,
): Promise<void> {
  let isFirst = true
  const router = new Router({
    api,
    tree: directive.tree,
    target,
    onWarning: warn,
    onError: fail,
    onApplied: (table) => {
      if (isFirst) announce(output, readyLine(table))
      isFirst = false
    },
    sleep,
    random: Math.random,
    now: Date.now,
    elapsed,
  })
  mark.router = router
  const isReady = (): boolean => router.isReady
  const notReady = (): string => `${router.state}\n`
  const status = await listenStatus(input.text('listen'), { metrics, isReady, notReady })
  await router.run(ended.signal)
  await status?.close()
}

function readyLine({ hosts }: RouteTable): string {
  const count = hosts.reduce((sum, { routes }) => sum + routes.length, 0)
  return `ready: ${hosts.length} hosts with ${count} paths are routed`
}

function placeOf(input: Input, { kubeconfig }: K8sGatewayOptions): ApiConnection {
  const path = input.text('kubeconfig')
  if (path !== '') return { kind: 'kubeconfig', path, context: undefined }
  if (kubeconfig === undefined) return { kind: 'default' }
  const from = dirname(input.text('conf'))
  return { kind: 'kubeconfig', path: resolve(from, kubeconfig.path), context: kubeconfig.context }
}

/** @throws {CommandError} for a folder or an address that nginx cannot use */
function nginxOptions(input: Input): NginxOptions {
  const folder = resolve(input.text('folder'))
  if (folder.length > FOLDER_CHARS_MAX || !/^[A-Za-z0-9._/-]+$/.test(folder)) {
    const wanted = `at most ${FOLDER_CHARS_MAX} letters, digits and . _ - /`
    throw new CommandError(`--folder ${folder}: nginx needs a path of ${wanted}`)
  }
  const given = input.texts('http')
  const listen = (given.length === 0 ? [HTTP_DEFAULT] : given).map((text) => {
    const { host = '0.0.0.0', port } = parseListenAddress(text)
    const isName = parseAddress(host) === undefined
    if (isName) throw new CommandError(`--http "${text}": ${host} is not an IP address`)
    return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
  })
  return { folder, listen }
}
