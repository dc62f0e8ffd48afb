/**
 * The bundle runs on exactly the oldest Node versions that `engines` in package.json allows. Run by
 * `npm run test:clients`, which installs them from npm once.
 * @module
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { cacheFolder } from '../../build/cache-folder.ts'
import { buildPackage } from '../../build/package.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { formatReply } from '../message-text.ts'
import { start } from '../real-cluster/processes.ts'
import { askUdp, queryWith } from '../server/clients.ts'

const ROOT = join(import.meta.dirname, '../..')
const PLATFORM = `${process.platform}-${process.arch}`
const OBJECTS = `apiVersion: v1
kind: List
items:
  - { apiVersion: v1, kind: Namespace, metadata: { name: shop } }
  - apiVersion: v1
    kind: Service
    metadata: { name: web, namespace: shop }
    spec: { clusterIP: 192.0.2.10, ports: [{ name: http, port: 80, protocol: TCP }] }
`

const NAME = 'web.shop.svc.cluster.local'

/** Returns the lower bounds of `engines`, such as 22.19.0 for `^22.19`. */
function oldestVersions(): readonly string[] {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  return [...String(engines.node).matchAll(/\d+\.\d+/g)].map(([version]) => `${version}.0`)
}

/** Finds a Node of exactly this version, or installs it from npm. */
function prepareNode(version: string): { readonly node: string; readonly missing: string | false } {
  const name = `node-${PLATFORM}@${version}`
  const folder = cacheFolder(name)
  const node = join(folder, `node_modules/node-${PLATFORM}/bin/node`)
  if (!existsSync(node)) {
    process.stderr.write(`installing ${name}\n`)
    mkdirSync(folder, { recursive: true })
    const flags = ['--no-audit', '--no-fund', '--no-save', '--prefix', folder]
    spawnSync('npm', ['install', ...flags, name], { timeout: 120_000 })
  }
  return { node, missing: existsSync(node) ? false : `npm has no ${name}, or is unavailable` }
}

it('knows the oldest version of each line', () => {
  assert.deepEqual(oldestVersions(), ['22.19.0', '24.5.0'])
})

for (const version of oldestVersions()) {
  const { node, missing } = prepareNode(version)
  describeUnless(missing, `the bundle on Node ${version}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'kubedoh-oldest-'))
    const entry = join(folder, 'run.js')
    const run = (...args: readonly string[]): string => {
      const { stdout, stderr } = spawnSync(node, [entry, ...args], { encoding: 'utf8' })
      assert.equal(stderr, '')
      return stdout
    }
    beforeAll(() => buildPackage(folder))
    afterAll(() => rmSync(folder, { recursive: true }))

    it('is run by that version', () => {
      const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
      assert.equal(stdout, `v${version}\n`)
    })

    it('prints its version, and checks a Corefile without a warning of Node', () => {
      const { version: own } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
      assert.equal(run('--version'), `${own}\n`)
      const corefile = join(folder, 'checked')
      writeFileSync(corefile, '.:53 {\n  errors\n  forward . 192.0.2.1\n  cache\n}\n')
      assert.doesNotMatch(run('check', corefile), /Warning/)
    })

    it('serves names in threads, and ends at SIGTERM', async () => {
      const port = await freePort()
      const [corefile, objects] = [join(folder, 'Corefile'), join(folder, 'objects.yaml')]
      writeFileSync(objects, OBJECTS)
      writeFileSync(corefile, `.:${port} {\n  bind 127.0.0.1\n  kubernetes cluster.local\n}\n`)
      const files = ['--conf', corefile, '--objects', objects]
      const server = start(node, [entry, 'serve', ...files, '--workers', '2'])
      await server.line(/^ready/)
      const { message } = await askUdp('127.0.0.1', port, queryWith(1, NAME))
      assert.deepEqual(formatReply(message), ['NOERROR aa rd', `${NAME}. 5 IN A 192.0.2.10`])
      assert.equal(await server.stop(), 0)
    })
  })
}
