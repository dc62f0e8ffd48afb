/**
 * The image variant with Bun: a gateway that is published to, and what Bun lacks.
 * `KUBEDOH_GATEWAY_RUNTIME=bun npm run test:node -- gateway` runs it on a real node.
 * @module
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, test } from 'vitest'
import { type BuiltImage, buildImage } from '../../build/image/image.ts'
import { createClusterKeys } from '../../src/exporter/cluster-keys.ts'
import { hashToken } from '../../src/gateway/access/token.ts'
import { AUTHORITY, SERVER } from '../certificates.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { start } from '../real-cluster/processes.ts'
import { BUN_PACKAGE } from '../runtimes.ts'
import { probeTools, type UnpackedImage, unpackImage } from './tools.ts'

const MAX_BYTES = 60e6
const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const TOKEN = 'the-client-of-these-tests'
/** The gateway's files, in the image. */
const FILES = {
  'etc/kubedoh/Corefile': '. {\n  kubernetes cluster.local {\n    cluster demo\n  }\n}\n',
  'etc/kubedoh/hosts.Corefile': '. {\n  hosts {\n    192.0.2.7 web.example.test\n  }\n}\n',
  'etc/kubedoh/tls.crt': SERVER.cert,
  'etc/kubedoh/tls.key': SERVER.key,
  'etc/kubedoh/ca.crt': AUTHORITY,
  'etc/kubedoh/objects.yaml': `apiVersion: v1
kind: Service
metadata: { name: web, namespace: shop }
spec: { clusterIP: 192.0.2.10, ports: [{ name: http, port: 80, protocol: TCP }] }
`,
}
const missing = probeTools()

describeUnless(missing, 'the image with Bun', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'kubedoh-bun-image-'))
  let image: BuiltImage
  let root: string
  let config: UnpackedImage['config']
  beforeAll(async () => {
    image = await buildImage(['amd64'], 'bun')
    ;({ root, config } = unpackImage(image.archive, scratch))
    mkdirSync(join(root, 'etc/kubedoh'))
    for (const [path, text] of Object.entries(FILES)) writeFileSync(join(root, path), text)
  })
  afterAll(() => rmSync(scratch, { recursive: true }))
  /** Arguments of `unshare` that run the image's program: Bun needs /proc and /dev. */
  const inImage = (): string[] => {
    const mounts = 'mount --bind /proc "$0/proc"; mount --bind /dev "$0/dev"'
    const script = `${mounts}; exec chroot --userspec=${config.User} "$0" "$@"`
    return ['-m', 'sh', '-ec', script, root, ...config.Entrypoint]
  }

  test(`has at most ${MAX_BYTES / 1e6} MB compressed`, () => {
    console.log(`${(image.size / 1e6).toFixed(1)} MB compressed`)
    assert.ok(image.size <= MAX_BYTES, `${image.size} bytes`)
  })

  test('has Bun, and no Node, in its bill of materials', () => {
    const { packages } = JSON.parse(readFileSync(join(root, 'app/sbom.spdx.json'), 'utf8'))
    const names: readonly string[] = packages.map(({ name }: { name: string }) => name)
    assert.ok(!names.includes('node'))
    const { versionInfo, licenseDeclared } = packages[names.indexOf('bun')]
    assert.equal(`bun@${versionInfo}`, BUN_PACKAGE)
    assert.match(licenseDeclared, /LGPL/)
    assert.match(readFileSync(join(root, 'usr/local/share/doc/bun/LICENSE'), 'utf8'), /WebKit/)
  })

  test('runs a gateway, not as root, that takes names and answers them', async (t) => {
    const port = await freePort()
    const { token, signingKey, publicKey, tokenSha256 } = await createClusterKeys()
    const file = (name: string): string => `/etc/kubedoh/${name}`
    const tls = ['--tls-cert', file('tls.crt'), '--tls-key', file('tls.key')]
    const where = ['--listen', `127.0.0.1:${port}`, '--store', 'file:/tmp/store']
    const args = ['gateway', '--conf', file('Corefile'), ...where, ...tls]
    const gateway = start('unshare', [...inImage(), ...args], {
      CLUSTERS: JSON.stringify({ demo: { publicKey, tokenSha256 } }),
      CLIENT_TOKEN_SHA256: await hashToken(TOKEN),
    })
    t.onTestFinished(() => gateway.stop().then(() => undefined))
    await gateway.line(/^ready/)
    const status = readFileSync(`/proc/${gateway.child.pid}/status`, 'utf8')
    assert.match(status, /^Name:\tbun$/m)
    assert.match(status, /^Uid:\t65532\t/m)
    const run = (
      command: readonly string[],
      environment: Readonly<Record<string, string>> = {},
    ) => {
      const env = { ...process.env, ...environment }
      const { stdout, stderr } = spawnSync(KUBEDOH, command, { env, encoding: 'utf8' })
      return { stdout, stderr }
    }
    const origin = `https://localhost:${port}`
    const objects = ['--objects', join(root, file('objects.yaml')), '--cluster', 'demo', '--once']
    const ca = join(root, file('ca.crt'))
    const exported = run(['export', ...objects, '--gateway', origin], {
      KUBEDOH_TOKEN: token,
      KUBEDOH_SIGNING_KEY: signingKey,
      KUBEDOH_CA: ca,
    })
    const asked = ['--server', `${origin}/dns-query`, '--token', TOKEN, '--ca', ca, '--json']
    const { stdout, stderr } = run(['query', 'web.shop.svc.cluster.local', ...asked])
    assert.equal(stderr, '', exported.stderr)
    assert.equal(JSON.parse(stdout).Answer[0].data, '192.0.2.10')
  })

  test('refuses PROXY headers, which Bun cannot read, in one line', () => {
    const where = ['--conf', '/etc/kubedoh/hosts.Corefile', '--listen', '127.0.0.1:0']
    const command = [...inImage(), 'gateway', ...where]
    const variables = { PROXY_PROTOCOL: 'true', TRUSTED_PROXIES: '192.0.2.1' }
    const env = { ...process.env, ...variables }
    const { status, stderr } = spawnSync('unshare', command, { env, encoding: 'utf8' })
    assert.equal(status, 1)
    assert.match(stderr, /^kubedoh: PROXY_PROTOCOL is "true", but this platform .* unset it\n$/)
  })
})
