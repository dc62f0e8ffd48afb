/**
 * `kubedoh serve`: a DNS server for a Corefile.
 * @module
 */

import { rmSync, writeFileSync } from 'node:fs'
import { sleep } from '../../cluster/api/backoff.ts'
import { fileReason } from '../../dns/bytes/unknown.ts'
import { storeCompiledCode } from '../../server/node/compile-cache.ts'
import { inheritedSockets } from '../../server/node/inherited-sockets.ts'
import { watchLoop } from '../../server/node/loop-watch.ts'
import { startMemoryTrim } from '../../server/node/memory-trim.ts'
import { announce, CommandError, createLog, type Output } from '../../server/node/output.ts'
import { requireTextFile } from '../../server/node/read-files.ts'
import { ServiceManager } from '../../server/node/service-manager.ts'
import { onReloadSignal, untilSignal } from '../../server/node/signals.ts'
import type { RunningServer, ServeOptions } from '../../server/serve/serve-options.ts'
import { Server } from '../../server/serve/server.ts'
import { serveByWorkers } from '../../server/serve/worker-pool.ts'
import { collectorOf } from '../flags/collector.ts'
import type { FlagName, Input } from '../flags/flags.ts'
import { readLingerMs } from '../flags/linger.ts'
import { trimOwnToken } from '../flags/operator-call.ts'

/** Maximum of --workers: one for each CPU of a large machine. */
const WORKERS_MAX = 256
/** Interval of the checks whether a started server is ready. */
const READY_POLL_MS = 50

/** Runs the command until SIGINT or SIGTERM. */
export async function runServe(input: Input, output: Output): Promise<void> {
  await withPidfile(input, () => serveUntilSignal(input, output))
}

/** Writes `--pidfile` while a function runs. */
export async function withPidfile(input: Input, run: () => Promise<void>): Promise<void> {
  const pidfile = input.text('pidfile')
  if (pidfile !== '') writePid(pidfile)
  try {
    await run()
  } finally {
    if (pidfile !== '') rmSync(pidfile, { force: true })
  }
}

async function serveUntilSignal(input: Input, output: Output): Promise<void> {
  const collector = collectorOf(input, 'server')
  const options = {
    conf: input.text('conf'),
    dnsPort: parsePort(input.text('dns.port'), 'dns.port'),
    objects: input.texts('objects'),
    etcd: input.text('etcd'),
    files: input.text('files'),
    kubeconfig: input.text('kubeconfig'),
    dohListen: input.text('doh.listen'),
    insecure: input.isSet('insecure'),
    explainToken: readExplainToken(input),
    lingerMs: readLingerMs(input),
    localAddresses: input.env('LOCAL_IPS'),
    ...(collector && { collector }),
  }
  const count = parseWorkers(input.text('workers'), options)
  const running =
    count === 1 ? await serve(options, output) : await serveByWorkers(options, output, { count })
  await runUntilSignal(running, input, output)
}

/** Prints the ready line, reloads on signals, and stops the server on SIGINT or SIGTERM. */
export async function runUntilSignal(
  running: RunningServer,
  input: Input,
  output: Output,
): Promise<void> {
  const log = createLog(output)
  const manager = new ServiceManager(log)
  manager.ready()
  const doh = input.text('doh.listen')
  const beside = doh === '' ? '' : `, DNS over HTTP on http://${doh}/dns-query`
  const offReload = onReloadSignal(() => void running.reload())
  const ended = new AbortController()
  const signal = untilSignal().finally(() => ended.abort())
  const ready = untilReady(running, ended.signal)
  const stopTrim = startMemoryTrim()
  void ready.then(() => {
    storeCompiledCode()
    void watchLoop(input.env('KUBEDOH_SLOW_TURNS'), log)
  })
  if ((await ready) && !input.isSet('quiet')) {
    announce(output, `ready: DNS on port ${[...new Set(running.ports)].join(', ')}${beside}`)
  }
  await signal
  manager.stopping()
  offReload()
  stopTrim()
  await running.stop()
  manager.close()
}

/** Waits until every plugin is ready, as for `/ready`; false if the signal aborts first. */
export async function untilReady(
  server: Pick<RunningServer, 'notReady'>,
  signal: AbortSignal,
): Promise<boolean> {
  while (!signal.aborted) {
    if ((await server.notReady()).length === 0) return true
    await sleep(READY_POLL_MS, signal)
  }
  return false
}

/** Reads the token of `/v1/explain`; '' for no such route. @throws {CommandError} */
function readExplainToken(input: Input): string {
  const path = input.env('KUBEDOH_EXPLAIN_TOKEN_FILE')
  if (path === '') return trimOwnToken(input.env('KUBEDOH_EXPLAIN_TOKEN'), 'KUBEDOH_EXPLAIN_TOKEN')
  const token = trimOwnToken(requireTextFile(path), path)
  if (token === '') throw new CommandError(`${path} is empty`)
  if (input.text('doh.listen') === '') {
    throw new CommandError('/v1/explain needs --doh.listen; unset KUBEDOH_EXPLAIN_TOKEN_FILE')
  }
  return token
}

function writePid(path: string): void {
  try {
    writeFileSync(path, `${process.pid}\n`)
  } catch (error) {
    throw new CommandError(`Cannot write the process ID to ${path}: ${fileReason(error)}`, {
      cause: error,
    })
  }
}

/** Starts the server; it answers when the promise resolves. */
export async function serve(options: ServeOptions, output: Output): Promise<RunningServer> {
  const server = new Server(options, output)
  try {
    await server.start()
    checkInherited()
    return server
  } catch (error) {
    await server.close()
    throw error
  }
}

/** Rejects sockets of systemd that no server block has taken: their queries would wait forever. */
function checkInherited(): void {
  const [first] = inheritedSockets()
  if (first === undefined) return
  const { protocol, address, port } = first
  throw new CommandError(
    `systemd passed ${protocol} ${address} port ${port}, which no server block binds; add ` +
      `"bind ${address}" to a block with this port, or remove the address from the socket unit`,
  )
}

/** Parses a flag's port. @throws {CommandError} */
export function parsePort(text: string, flag: FlagName): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port < 65536) return port
  throw new CommandError(`--${flag} is "${text}", expected 0 to 65535`)
}

/** Rejects port 0 for several workers: the system would choose another port for each. */
function parseWorkers(text: string, { dnsPort }: ServeOptions): number {
  const count = Number(text)
  if (!/^\d+$/.test(text) || count < 1 || count > WORKERS_MAX) {
    throw new CommandError(`--workers is "${text}", expected 1 to ${WORKERS_MAX}`)
  }
  if (count > 1 && inheritedSockets().length > 0) {
    throw new CommandError('--workers above 1 cannot share the sockets of systemd; run one')
  }
  if (count === 1 || dnsPort > 0) return count
  throw new CommandError('--workers above 1 needs a fixed port; set --dns.port to 1 to 65535')
}
