/**
 * The container image: built twice, and run as CoreDNS's image would be.
 * @module
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, test } from 'vitest'
import { type BuiltImage, buildImage } from '../../build/image/image.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { askUdp, queryWith, within } from '../server/clients.ts'
import { probeTools, type UnpackedImage, unpackImage } from './tools.ts'

const MAX_BYTES = 60e6
const COREFILE = '.:PORT {\n  hosts {\n    192.0.2.7 web.example.test\n  }\n}\n'
const missing = probeTools()

describeUnless(missing, 'the image', () => {
  let image: BuiltImage
  let root: string
  let config: UnpackedImage['config']
  const scratch = mkdtempSync(join(tmpdir(), 'kubedoh-image-test-'))
  afterAll(() => rmSync(scratch, { recursive: true }))

  beforeAll(async () => {
    image = await buildImage(['amd64'])
    ;({ root, config } = unpackImage(image.archive, scratch))
  })

  test('has the same digest when it is built again', async () => {
    assert.equal((await buildImage(['amd64'])).digest, image.digest)
  })

  test(`has at most ${MAX_BYTES / 1e6} MB compressed`, () => {
    console.log(`${(image.size / 1e6).toFixed(1)} MB compressed`)
    assert.ok(image.size <= MAX_BYTES, `${image.size} bytes`)
  })

  test('has the capability to bind port 53 on Node, and on no other file', () => {
    const found = execFileSync('getcap', ['-r', root], { encoding: 'utf8' })
    assert.equal(found, `${root}/usr/local/bin/node cap_net_bind_service=ep\n`)
  })

  test('lists every npm package of the bundle in its bill of materials', () => {
    const text = readFileSync(join(root, 'app/sbom.spdx.json'), 'utf8')
    assert.equal(text, image.sboms.get('amd64'))
    const names = JSON.parse(text).packages.map(({ name }: { name: string }) => name)
    const licences = readFileSync(join(root, 'app/LICENSES.txt'), 'utf8')
    const bundled = [...licences.matchAll(/^-{78}\n(\S+) /gm)].map(([, name]) => name)
    assert.ok(bundled.length > 5)
    for (const name of [...bundled, 'kubedoh', 'node', 'libc6', 'libstdc++6']) {
      assert.ok(names.includes(name), `no ${name}`)
    }
  })

  test("answers with CoreDNS's arguments, not as root", async (t) => {
    const port = await freePort()
    mkdirSync(join(root, 'etc/coredns'))
    writeFileSync(join(root, 'etc/coredns/Corefile'), COREFILE.replace('PORT', String(port)))
    const args = [`--userspec=${config.User}`, root, ...config.Entrypoint]
    const child = spawn('/usr/sbin/chroot', [...args, '-conf', '/etc/coredns/Corefile'], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {},
    })
    t.onTestFinished(() => void child.kill('SIGKILL'))
    const [line] = await within(once(child.stdout, 'data'), 'the first line')
    assert.match(String(line), /^ready: /)
    assert.match(readFileSync(`/proc/${child.pid}/status`, 'utf8'), /^Uid:\t65532\t/m)
    const { message } = await askUdp('127.0.0.1', port, queryWith(1, 'web.example.test'))
    assert.deepEqual([...message.subarray(-4)], [192, 0, 2, 7])
  })

  test('runs other commands by their names', () => {
    const run = (...args: readonly string[]) =>
      spawnSync('chroot', [root, ...config.Entrypoint, ...args], { encoding: 'utf8' })
    assert.match(run('--help').stdout, /^Usage: kubedoh \[options\] \[command\]/)
    assert.match(run('export', '--help').stdout, /^Usage: kubedoh export /)
    assert.match(run('-version').stdout, /^\S+\n$/)
  })
})
