/**
 * `kubedoh serve` while a tenant edits an object of its own again and again, in the memory of the
 * chart's limit. Run by `npm run test:attack`.
 * @module
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { freePort } from '../free-port.ts'
import { attack, REPEATED, type Row, runAttacker, startTarget, type Target } from './harness.ts'
import { startProgram } from './program.ts'
import { TenantApi, type TenantApiOptions } from './tenant-api.ts'
import { TENANT_ROWS, TENANT_ZONE } from './tenant-attacks.ts'

/** The limit of the chart's server. */
const MEMORY_MIB = 256
/** Maximum of the time that queries of others wait. */
const P99_MS_MAX = 50
const HOLD_MS = 2000
const KINDS = 'Ingress HTTPRoute Gateway Service DNSEndpoint ConfigMap'

/** The clusters: of some Services, which the thread that answers watches at first, and of more. */
const CLUSTERS: readonly (TenantApiOptions & { readonly rows: readonly string[] })[] = [
  { services: 20, streams: true, rows: Object.keys(TENANT_ROWS) },
  {
    ...{ services: 700, streams: false },
    rows: [
      'ConfigMap, $GENERATE of 5,000 records',
      'ConfigMap, a hosts file of 900 KiB',
      'Ingress of 12,000 hosts',
      'EndpointSlice of 1,000 endpoints',
    ],
  },
]

for (const { rows, ...options } of CLUSTERS) {
  describe(`kubedoh serve with ${options.services} Services, and a tenant that edits`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'kubedoh-tenant-'))
    let api: TenantApi | undefined
    let target: Target | undefined

    const rowOf = (row: string): Row => ({
      name: row,
      volume: `${TENANT_ROWS[row]?.perSecond} a second, ${options.services} Services`,
      module: import.meta.resolve('./tenant-attacks.ts'),
      run: 'editObject',
      argument: { port: api?.port, row, holdMs: HOLD_MS },
      p99MsMax: P99_MS_MAX,
    })

    beforeAll(async () => {
      api = await TenantApi.start(options)
      const [port, kubeconfig] = [await freePort(), writeKubeconfig(folder, api.port)]
      const conf = join(folder, 'Corefile')
      const published = `k8s_gateway ${TENANT_ZONE} {\n resources ${KINDS}\n annotations\n }`
      const own = `bind 127.0.0.1\n kubernetes cluster.local\n ${published}`
      writeFileSync(conf, `.:${port} {\n ${own}\n}\n`)
      const args = ['serve', '--conf', conf, '--kubeconfig', kubeconfig]
      const program = await startProgram(args, { ready: /^ready/, memoryMib: MEMORY_MIB })
      const name = 'web-1.shop.svc.cluster.local'
      // A large object moves the watch to a thread, which takes memory once.
      const warmUp = (): Promise<unknown> => runAttacker(rowOf('DNSEndpoint of 5,000 names'))
      target = await startTarget(program, [{ kind: 'udp', port, name, perSecond: 100 }], warmUp)
    })
    afterAll(async () => {
      await target?.stop()
      await api?.stop()
      rmSync(folder, { recursive: true })
    })

    for (const row of rows) {
      test(row, REPEATED, async () => {
        assert.ok(target !== undefined)
        const edits = await attack(target, rowOf(row))
        assert.ok(Number(edits) > 2, `${edits} edits`)
      })
    }
  })
}

function writeKubeconfig(folder: string, port: number): string {
  const path = join(folder, 'kubeconfig')
  // Without TLS the client refuses a server that it would have to verify.
  const cluster = { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true }
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'one' },
    clusters: [{ name: 'one', cluster }],
    contexts: [{ name: 'one', context: { cluster: 'one', user: 'one' } }],
    users: [{ name: 'one', user: {} }],
  }
  writeFileSync(path, JSON.stringify(config))
  return path
}
