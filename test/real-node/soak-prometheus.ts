/**
 * A Prometheus beside a soak, from which the dashboards of docs/dashboards.md are drawn at its end.
 * @module
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SYSTEM } from './cluster.ts'
import type { Gateway } from './gateway-setup.ts'
import type { KubernetesNode } from './node.ts'

const DRAW = join(import.meta.dirname, '../../bench/dashboards.ts')
/** Ports of the metrics, by component; those of the gateway need a token. */
const PORTS = { server: 9153, exporter: 9154, gateway: 8443 } as const
/** Interval at which the pods are listed: Debian's Prometheus cannot watch them itself. */
const LIST_MS = 5000

/** Scrapes the pods of the chart until it is stopped. */
export class SoakPrometheus {
  private readonly prefix: readonly string[]
  private readonly child: ChildProcess
  private readonly timer: NodeJS.Timeout

  /**
   * Starts it in the network of a pod.
   * @param program path of Prometheus
   */
  static async start(
    program: string,
    node: KubernetesNode,
    { asked, metricsToken }: Gateway,
  ): Promise<SoakPrometheus> {
    const folder = join(node.folder, 'prometheus')
    mkdirSync(folder)
    const jobs = Object.keys(PORTS).map((component) => ({
      job_name: `kubedoh-${component}`,
      file_sd_configs: [{ files: [join(folder, `${component}.json`)], refresh_interval: '5s' }],
      ...(component === 'gateway' && {
        scheme: 'https',
        tls_config: { ca_file: asked.ca, server_name: asked.servername },
        authorization: { credentials: metricsToken },
      }),
    }))
    const config = join(folder, 'prometheus.json')
    // JSON is YAML.
    const global = { scrape_interval: '5s' }
    writeFileSync(config, JSON.stringify({ global, scrape_configs: jobs }))
    await listPods(node, folder)
    const command = [
      program,
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
    ]
    const timer = setInterval(() => void listPods(node, folder).catch(() => {}), LIST_MS)
    return new SoakPrometheus(await node.inPod('glibc'), command, timer)
  }

  private constructor(
    prefix: readonly string[],
    command: readonly string[],
    timer: NodeJS.Timeout,
  ) {
    this.prefix = prefix
    this.timer = timer
    const [program = '', ...args] = [...prefix, ...command]
    this.child = spawn(program, args, { stdio: 'ignore' })
  }

  /** Draws the dashboards, and ends it. */
  stop(): void {
    clearInterval(this.timer)
    const [program = '', ...args] = [...this.prefix, process.execPath, DRAW]
    try {
      execFileSync(program, args, { stdio: 'inherit' })
    } finally {
      this.child.kill()
    }
  }
}

async function listPods(node: KubernetesNode, folder: string): Promise<void> {
  const { items }: { items: readonly Pod[] } = JSON.parse(
    await node.kubectl(
      ...SYSTEM,
      'get',
      'pods',
      '-l',
      'app.kubernetes.io/name=kubedoh',
      '-o',
      'json',
    ),
  )
  for (const [component, port] of Object.entries(PORTS)) {
    const targets = items
      .filter(({ metadata }) => metadata.labels['app.kubernetes.io/component'] === component)
      .filter(({ status }) => status.podIP !== undefined)
      .map(({ metadata: { name }, status: { podIP } }) => ({
        targets: [`${podIP}:${port}`],
        labels: { instance: name },
      }))
    writeFileSync(join(folder, `${component}.json`), JSON.stringify(targets))
  }
}

type Pod = {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }
  readonly status: { readonly podIP?: string }
}
