/**
 * The package as npm would publish it: its bundle works by itself, without a package beside it,
 * other programs use it as a library, the examples run, and the first hour goes as written. One
 * file, because to build the package takes 8 s of CPU time.
 * @module
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, describe, type TestContext, test } from 'vitest'
import { parse } from 'yaml'
import { testFirstHour } from '../cli/first-hour.ts'
import { openWatch, sendJson, startHttpApi, watchLine } from '../cluster/follow/http-api.ts'
import { CERTIFICATE, PRIVATE_KEY } from '../cluster/follow/loopback-certificate.ts'
import { SHOP_LISTS } from '../cluster/follow/scripted-api.ts'
import { temporaryFolder } from '../cluster/follow/temporary-folder.ts'
import { testExamples } from '../examples/examples.ts'
import { freePort } from '../free-port.ts'
import { askUdp, queryWith, within } from '../server/clients.ts'
import { checkLibrary } from './check-library.ts'

const ROOT = join(import.meta.dirname, '../..')
const WEB = 'web.shop.svc.cluster.local'
const scratch = mkdtempSync(join(tmpdir(), 'kubedoh-build-'))
const packed = pack()
const bundle = join(scratch, 'bundle')
cpSync(join(packed, 'dist'), bundle, { recursive: true })
const entry = join(bundle, 'run.js')
afterAll(() => rmSync(scratch, { recursive: true }))

/** Packs the package as for publishing. Returns its folder. */
function pack(): string {
  execFileSync('npm', ['pack', '--silent', '--pack-destination', scratch], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [tarball = ''] = readdirSync(scratch).filter((name) => name.endsWith('.tgz'))
  execFileSync('tar', ['xzf', join(scratch, tarball), '-C', scratch])
  return join(scratch, 'package')
}

/** Prints a credential that has expired already, with a new token each time. */
const PLUGIN = `#!/bin/sh
n=$(($(cat "$0.count" 2>/dev/null || echo 0) + 1))
echo $n >"$0.count"
echo '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
  "status": {"token": "token-'$n'", "expirationTimestamp": "2020-01-01T00:00:00Z"}}'
`

function kubeconfig(server: string, command: string): string {
  const authority = Buffer.from(CERTIFICATE).toString('base64')
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command, interactiveMode: 'Never' }
  return JSON.stringify({
    'current-context': 'shop',
    clusters: [{ name: 'shop', cluster: { server, 'certificate-authority-data': authority } }],
    users: [{ name: 'shop', user: { exec } }],
    contexts: [{ name: 'shop', context: { cluster: 'shop', user: 'shop' } }],
  })
}

/** Starts `kubedoh serve` of the bundle, with two threads. Resolves when it is ready. */
async function serve(t: TestContext, corefile: string): Promise<void> {
  const args = [entry, 'serve', '--conf', corefile, '--workers', '2']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  t.onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = await within(once(child.stdout, 'data'), 'the first line')
  assert.match(String(line), /^ready: /)
}

/** Asks until the address of the Service is the expected one. */
async function untilAddress(port: number, address: readonly number[]): Promise<void> {
  for (;;) {
    const { message } = await askUdp('127.0.0.1', port, queryWith(1, WEB))
    if (Buffer.compare(message.subarray(-4), Uint8Array.from(address)) === 0) return
    await setTimeout(5)
  }
}

describe('the bundle', () => {
  test('runs without packages beside it', () => {
    const { stdout, stderr } = spawnSync(process.execPath, [entry, '--version'], {
      encoding: 'utf8',
    })
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    assert.deepEqual([stdout, stderr], [`${version}\n`, ''])
  })

  test('prints errors of a Corefile from another file of the bundle in one line', () => {
    const corefile = join(scratch, 'broken')
    writeFileSync(corefile, '. { nonsense }\n')
    const { status, stderr } = spawnSync(
      process.execPath,
      [entry, 'serve', '--conf', corefile, '--dns.port', '0'],
      { encoding: 'utf8' },
    )
    assert.equal(status, 1)
    assert.match(stderr, /^\S+broken:1:5: there is no plugin "nonsense".*\n$/)
  })

  test('has a source map for each file, and the licence of each package', () => {
    // Their users bundle the Worker and the edge's gateway once more.
    const files = readdirSync(bundle).filter((name) => /(?<!^(?:edge|worker))\.js$/.test(name))
    for (const name of files) assert.ok(existsSync(join(bundle, `${name}.map`)), name)
    const licences = readFileSync(join(bundle, 'LICENSES.txt'), 'utf8')
    const { version } = JSON.parse(
      readFileSync(join(ROOT, 'node_modules/hpagent/package.json'), 'utf8'),
    )
    assert.ok(licences.includes(`\nhpagent ${version} (MIT)\n\nMIT License`))
    // The Kubernetes client imports it, for a way to send requests that we replace.
    assert.ok(!licences.includes('\nundici '))
  })

  test('follows an API server over TLS, with tokens of a plugin, in threads', async (t) => {
    const folder = temporaryFolder(t, { plugin: PLUGIN })
    chmodSync(join(folder, 'plugin'), 0o755)
    const tokens = new Set<string | undefined>()
    const watches = new Map<string, ServerResponse>()
    const url = await startHttpApi(
      t,
      ({ url: path = '', headers }, response) => {
        tokens.add(headers.authorization)
        const { pathname, searchParams } = new URL(path, 'https://127.0.0.1')
        const resource = pathname.split('/').at(-1) ?? ''
        if (!searchParams.has('watch')) {
          const items: unknown = parse(SHOP_LISTS[resource] ?? '') ?? []
          return sendJson(response, { items, metadata: { resourceVersion: '1' } })
        }
        if (searchParams.has('sendInitialEvents')) return sendJson(response, {}, 422)
        watches.set(resource, response)
        openWatch(response)
      },
      { cert: CERTIFICATE, key: PRIVATE_KEY, ca: CERTIFICATE },
    )
    const port = await freePort()
    const files = temporaryFolder(t, {
      config: kubeconfig(url, join(folder, 'plugin')),
      Corefile: `.:${port} {\n  bind 127.0.0.1\n  kubernetes cluster.local {\n    kubeconfig config shop\n  }\n}\n`,
    })
    await serve(t, join(files, 'Corefile'))
    await untilAddress(port, [192, 0, 2, 10])
    const web = { metadata: { namespace: 'shop', name: 'web' }, spec: { clusterIP: '192.0.2.11' } }
    watches.get('services')?.write(watchLine('MODIFIED', web))
    await within(untilAddress(port, [192, 0, 2, 11]), 'the new address')
    assert.ok(tokens.size > 1 && tokens.has('Bearer token-1'), [...tokens].join(', '))
  })
})

test('the package exports modules with types for another program', (t) => checkLibrary(t, packed))

testFirstHour(packed)
testExamples(packed)
