/**
 * The image for arm64: run by QEMU's emulation of a process, as CoreDNS's image would be.
 * @module
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, test } from 'vitest'
import { buildImage } from '../../build/image/image.ts'
import { unpackPackages } from '../debian-packages.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { askUdp, frame, queryWith, TcpClient, within } from '../server/clients.ts'
import { probeTools, type UnpackedImage, unpackImage } from './tools.ts'

const COREFILE = '.:PORT {\n  hosts {\n    192.0.2.7 web.example.test\n  }\n}\n'
/** Debian 12 has the static programs in the first package, later releases in the second. */
const PACKAGES = ['qemu-user-static', 'qemu-user']
const PROGRAMS = ['usr/bin/qemu-aarch64-static', 'usr/bin/qemu-aarch64']
const EMULATOR = '/usr/local/bin/qemu'
/** A root that nobody can write, with /dev and /proc, as a container engine makes it. */
const SCRIPT = `mount --bind "$0" "$0"; mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"
mount -o remount,bind,ro "$0"; exec chroot "$@"`

/** Finds an emulator that needs no libraries of this machine. */
function prepareEmulator(): string {
  for (const name of PACKAGES) {
    const folder = unpackPackages(`${name}-debian`, [name])
    const found = PROGRAMS.map((path) => join(folder, path)).find((path) => existsSync(path))
    if (found !== undefined) return found
  }
  throw new Error(`${PACKAGES.join(' and ')} have no emulator of arm64`)
}

describeUnless(probeTools('arm64'), 'the image for arm64', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'kubedoh-image-arm64-'))
  let unpacked: UnpackedImage
  let port: number
  afterAll(() => rmSync(scratch, { recursive: true }))

  beforeAll(async () => {
    unpacked = unpackImage((await buildImage(['arm64'])).archive, scratch)
    const { root } = unpacked
    copyFileSync(prepareEmulator(), join(root, EMULATOR))
    port = await freePort()
    mkdirSync(join(root, 'etc/coredns'))
    writeFileSync(join(root, 'etc/coredns/Corefile'), COREFILE.replace('PORT', String(port)))
  })

  /** Starts a process of the image as its user. */
  function run(environment: NodeJS.ProcessEnv, ...command: readonly string[]) {
    const { root, config } = unpacked
    const chroot = [root, `--userspec=${config.User}`, root, EMULATOR, ...command]
    return spawn('unshare', ['-m', 'sh', '-ec', SCRIPT, ...chroot], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, ...environment },
    })
  }

  test('has the capability to bind port 53 on Node', () => {
    const found = execFileSync('getcap', ['-r', unpacked.root], { encoding: 'utf8' })
    assert.equal(found, `${unpacked.root}/usr/local/bin/node cap_net_bind_service=ep\n`)
  })

  for (const batches of ['1', '0']) {
    const how = batches === '0' ? 'without' : 'with'
    test(`answers with CoreDNS's arguments over UDP and TCP, ${how} recvmmsg`, async (t) => {
      const environment = { KUBEDOH_UDP_BATCHES: batches, QEMU_STRACE: '1' }
      const command = [...unpacked.config.Entrypoint, '-conf', '/etc/coredns/Corefile']
      const child = run(environment, ...command)
      t.onTestFinished(() => void child.kill('SIGKILL'))
      let calls = ''
      child.stderr.on('data', (chunk) => {
        calls += chunk
      })
      const ended = once(child, 'close')
      // Without a limit of time: an emulated start takes 5 to 40 s, by what else runs.
      const line = await Promise.race([once(child.stdout, 'data'), ended.then(() => calls)])
      assert.match(String(line), /^ready: /)
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      assert.match(status, /^Uid:\t65532\t/m)
      const hasBatch = (): boolean => /recvmmsg\(.*\) = [1-9]/.test(calls)
      const burst = Array.from({ length: 64 }, (_, id) => queryWith(id, 'web.example.test'))
      for (let sent = 0; sent === 0 || (batches === '1' && !hasBatch() && sent < 50); sent++) {
        const { message } = await askUdp('127.0.0.1', port, ...burst)
        assert.deepEqual([...message.subarray(-4)], [192, 0, 2, 7])
      }
      const client = await TcpClient.open(port)
      await client.send(frame(queryWith(1, 'web.example.test')))
      const [response] = await client.messages(1)
      assert.deepEqual(response?.slice(-4), new Uint8Array([192, 0, 2, 7]))
      client.destroy()
      child.kill('SIGTERM')
      assert.deepEqual(await within(ended, 'the exit'), [0, null])
      assert.equal(hasBatch(), batches === '1')
    })
  }

  test('cannot write to its root', async () => {
    const program = 'fs.writeFileSync("/app/x", "")'
    const child = run({}, '/usr/local/bin/node', '-e', program)
    const [errors] = await Promise.all([child.stderr.toArray(), once(child, 'close')])
    assert.match(errors.join(''), /EROFS/)
  })
})
