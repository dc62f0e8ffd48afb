/**
 * Prometheus's own linter over the metrics of each command. Run by `npm run test:clients`.
 * @module
 */
import { deepEqual, match } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { createClusterKeys } from '../../src/exporter/cluster-keys.ts'
import { hashToken } from '../../src/gateway/access/token.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { answerOf } from '../real-cluster/asking.ts'
import { type Running, start } from '../real-cluster/processes.ts'
import { findMissing } from './programs.ts'

const RUN = join(import.meta.dirname, '../../src/cli/run.ts')
const ADMIN = 'the-operator-of-these-tests'
const SHOP = join(import.meta.dirname, '../../demo/shop.yaml')
const QUESTIONS = ['web.shop.svc.cluster.local. A', 'a.example.org. A', 'localhost. A'] as const

describeUnless(findMissing('promtool'), 'promtool', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-promtool-'))
  const running: Running[] = []
  const metricsPorts = new Map<string, number>()

  const run = async (args: readonly string[], environment = {}): Promise<void> => {
    const child = start(process.execPath, [RUN, ...args], environment)
    running.push(child)
    await child.line(/^ready/)
  }

  const corefileOf = (name: string, lines: readonly string[]): string => {
    const path = join(folder, name)
    writeFileSync(path, `. {\n${lines.map((line) => `  ${line}\n`).join('')}}\n`)
    return path
  }

  beforeAll(async () => {
    const [dns, serve, gateway, exporter] = await Promise.all([1, 2, 3, 4].map(freePort))
    metricsPorts
      .set('serve', serve ?? 0)
      .set('gateway', gateway ?? 0)
      .set('export', exporter ?? 0)
    const plugins = [
      'cache',
      'local',
      'errors',
      'hosts',
      'kubernetes cluster.local',
      'forward . 127.0.0.1:1',
    ]
    const conf = corefileOf('serve', [`prometheus 127.0.0.1:${serve}`, ...plugins])
    await run(['serve', '--conf', conf, '--objects', SHOP, '--dns.port', String(dns)])
    for (const question of QUESTIONS) await answerOf({ protocol: 'udp', port: dns ?? 0 }, question)
    const { token, signingKey, publicKey, tokenSha256 } = await createClusterKeys()
    const edge = corefileOf('gateway', ['kubernetes cluster.local {\n    cluster shop\n  }'])
    const listen = ['--listen', `127.0.0.1:${gateway}`, '--store', 'memory']
    await run(['gateway', '--conf', edge, ...listen], {
      ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
      CLUSTERS: JSON.stringify({ shop: { publicKey, tokenSha256 } }),
    })
    const to = ['--gateway', `http://127.0.0.1:${gateway}`, '--cluster', 'shop']
    await run(['export', ...to, '--objects', SHOP, '--listen', `127.0.0.1:${exporter}`], {
      KUBEDOH_TOKEN: token,
      KUBEDOH_SIGNING_KEY: signingKey,
    })
  })

  afterAll(async () => {
    await Promise.all(running.toReversed().map((one) => one.stop()))
    rmSync(folder, { recursive: true, force: true })
  })

  for (const command of ['serve', 'gateway', 'export']) {
    it(`finds nothing wrong with the metrics of ${command}`, async () => {
      const response = await fetch(`http://127.0.0.1:${metricsPorts.get(command)}/metrics`, {
        headers: { authorization: `Bearer ${ADMIN}` },
      })
      const metrics = await response.text()
      match(metrics, /^# TYPE (coredns|kubedoh)_/m)
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
        input: metrics,
        encoding: 'utf8',
      })
      deepEqual({ status, stdout, stderr }, { status: 0, stdout: '', stderr: '' })
    })
  }
})
