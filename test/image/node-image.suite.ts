/**
 * The image variant for `kubedoh node-cache`: run with the capabilities that the chart gives it, in
 * a network namespace of its own.
 * @module
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, test } from 'vitest'
import { type BuiltImage, buildImage } from '../../build/image/image.ts'
import { describeUnless } from '../describe-unless.ts'
import { within } from '../server/clients.ts'
import { probeTools, type UnpackedImage, unpackImage } from './tools.ts'

const MAX_BYTES = 60e6
/** All but NET_ADMIN and NET_BIND_SERVICE; SETPCAP last, because dropping needs it. */
const DROPPED = `chown dac_override dac_read_search fowner fsetid kill setgid setuid linux_immutable
net_broadcast net_raw ipc_lock ipc_owner sys_module sys_rawio sys_chroot sys_ptrace sys_pacct sys_admin
sys_boot sys_nice sys_resource sys_time sys_tty_config mknod lease audit_write audit_control setfcap
mac_override mac_admin syslog wake_alarm block_suspend audit_read perfmon bpf
checkpoint_restore setpcap`
const ADDRESS = '169.254.20.10'
const TEMPLATE = `.:53 {
  bind __PILLAR__LOCAL__DNS__
  hosts {
    192.0.2.7 web.example.test
  }
}
`
const missing = probeTools()

describeUnless(missing, 'the image for nodes', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'kubedoh-node-image-'))
  let image: BuiltImage
  let unpacked: UnpackedImage
  beforeAll(async () => {
    image = await buildImage(['amd64'], 'node')
    unpacked = unpackImage(image.archive, scratch)
  })
  afterAll(() => rmSync(scratch, { recursive: true }))

  test(`has at most ${MAX_BYTES / 1e6} MB compressed`, () => {
    console.log(`${(image.size / 1e6).toFixed(1)} MB compressed`)
    assert.ok(image.size <= MAX_BYTES, `${image.size} bytes`)
  })

  test('has no programs but those that node-cache runs', () => {
    const list = 'find bin sbin usr/bin usr/sbin usr/local/bin ! -type d 2>/dev/null || true'
    const found = execFileSync('sh', ['-c', list], { cwd: unpacked.root, encoding: 'utf8' })
    const programs = 'bin/dash bin/ip bin/sh usr/local/bin/node usr/sbin/ip6tables'
    const tables = 'usr/sbin/ip6tables-restore usr/sbin/iptables usr/sbin/iptables-restore'
    const rest = 'usr/sbin/nft usr/sbin/xtables-nft-multi'
    assert.deepEqual(found.trim().split('\n').sort(), `${programs} ${tables} ${rest}`.split(' '))
  })

  test('lists its packages in its bill of materials', () => {
    const text = readFileSync(join(unpacked.root, 'app/sbom.spdx.json'), 'utf8')
    const names = JSON.parse(text).packages.map(({ name }: { name: string }) => name)
    for (const name of ['dash', 'iproute2', 'iptables', 'nftables']) assert.ok(names.includes(name))
  })

  for (const kind of ['iptables', 'nftables']) {
    test(`sets a node up by ${kind} with NET_ADMIN and NET_BIND_SERVICE only`, async (t) => {
      const { root, config } = unpacked
      mkdirSync(join(root, 'etc/coredns'), { recursive: true })
      writeFileSync(join(root, 'etc/coredns/Corefile.base'), TEMPLATE)
      const dropped = DROPPED.split(/\s+/).map((name) => `cap_${name}`)
      const [node = '', ...entry] = config.Entrypoint
      const shell = [`--drop=${dropped.join()}`, `--shell=${node}`, '--', ...entry]
      const command = ['node-cache', '-localip', ADDRESS, '-conf', '/tmp/Corefile', '--rules', kind]
      const script = `mount -t proc proc "$0/proc"; mount --bind /dev "$0/dev"
chroot "$0" ip link set lo up; exec capsh --chroot="$0" "$@"`
      const inside = ['-nm', 'sh', '-ec', script, root, ...shell, ...command]
      const environment = Object.fromEntries(config.Env.map((one) => one.split('=')))
      const path = `${environment.PATH}:${process.env.PATH}`
      const child = spawn('unshare', inside, {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...environment, PATH: path },
      })
      let log = ''
      child.stderr.on('data', (chunk) => {
        log += chunk
      })
      t.onTestFinished(() => void child.kill('SIGKILL'))
      const [line] = await within(once(child.stdout, 'data'), 'the first line')
      assert.match(String(line), /^ready: /)
      assert.match(readFileSync(`/proc/${child.pid}/status`, 'utf8'), /^CapEff:\t0+1400$/m)
      const run = (...args: readonly string[]): string => {
        const options = ['-t', String(child.pid), '-n', 'chroot', root, ...args]
        return execFileSync('nsenter', options, { encoding: 'utf8', env: environment })
      }
      const rules =
        kind === 'iptables' ? ['iptables', '-t', 'raw', '-S'] : ['nft', 'list', 'ruleset']
      await within(
        untilTrue(() => run(...rules).includes('NodeLocal DNS Cache')),
        'the rules',
      )
      assert.match(
        run('ip', '-o', 'address', 'show', 'dev', 'nodelocaldns'),
        /169\.254\.20\.10\/32/,
      )
      const ask = `const { Resolver } = require('dns').promises; const resolver = new Resolver()
resolver.setServers(['${ADDRESS}']); resolver.resolve4('web.example.test').then(console.log)`
      assert.match(run(node, '-e', ask), /192\.0\.2\.7/)
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      assert.deepEqual(await within(ended, 'the exit'), [0, null], log)
      assert.doesNotMatch(log, /"level":"error"/)
    })
  }
})

async function untilTrue(check: () => boolean): Promise<void> {
  while (!check()) await new Promise((resolve) => setTimeout(resolve, 50))
}
