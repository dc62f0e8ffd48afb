import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { failed, runCli } from '../run-cli.ts'

/** Configurations of other systems, with what they become and what is said of them. */
const FOLDER = join(import.meta.dirname, '../../operators/convert/examples')
const OURS: ReadonlySet<string> = new Set(['Corefile', 'notices', 'args'])
const SOURCES = ['openshift', 'kube-dns', 'nodelocal', 'dnsmasq', 'skydns']

function read(folder: string, name: string): string {
  return readdirSync(folder).includes(name) ? readFileSync(join(folder, name), 'utf8') : ''
}

describe('convert', () => {
  for (const name of readdirSync(FOLDER)) {
    const folder = join(FOLDER, name)
    const source = SOURCES.find((one) => name.startsWith(one)) ?? assert.fail(name)
    const files = readdirSync(folder).filter((file) => !OURS.has(file))
    const args = read(folder, 'args')
      .split(/\s+/)
      .filter((word) => word !== '')

    test(`writes the Corefile and its notices: ${name}`, async () => {
      const paths = files.map((file) => join(folder, file))
      const { status, stdout, stderr } = await runCli(['convert', source, ...paths, ...args])
      assert.equal(stdout, readFileSync(join(folder, 'Corefile'), 'utf8'))
      assert.equal(stderr.replaceAll(`${folder}/`, ''), read(folder, 'notices'))
      assert.equal(status, 0)
    })

    test(`writes a valid Corefile: ${name}`, async () => {
      const { status, stderr } = await runCli(['check', join(folder, 'Corefile')])
      assert.equal(status, 0, stderr)
    })
  }

  test('reports missing and invalid files', async (t) => {
    const folder = temporaryFolder(t, { 'a.yaml': 'kind: Pod\n', 'b.conf': 'x y\n' })
    const [a, b] = [join(folder, 'a.yaml'), join(folder, 'b.conf')]
    assert.deepEqual(
      await runCli(['convert', 'openshift', a]),
      failed(
        'kubedoh: no object of kind DNS (operator.openshift.io/v1); ' +
          '"oc get dnses.operator.openshift.io default -o yaml" prints it',
      ),
    )
    assert.deepEqual(
      await runCli(['convert', 'dnsmasq', b]),
      failed(`kubedoh: ${b}:1: "x y" is not an option of dnsmasq`),
    )
    assert.deepEqual(
      await runCli(['convert', 'skydns', '/none/conf']),
      failed('kubedoh: Cannot read /none/conf: no such file'),
    )
    assert.deepEqual(
      await runCli(['convert', 'kube-dns', '/none/map.yaml']),
      failed('kubedoh: /none/map.yaml: no such file or folder'),
    )
  })

  test('reports files of another kind', async (t) => {
    const files = { empty: ' \n', text: 'hello\n', 'b.yaml': 'a: b: c\n', 'folder/x': '' }
    const folder = temporaryFolder(t, files)
    const stderrOf = async (system: string, file: string): Promise<string> => {
      const { status, stderr } = await runCli(['convert', system, join(folder, file)])
      assert.equal(status, 1)
      return stderr.replaceAll(`${folder}/`, '')
    }
    assert.match(await stderrOf('openshift', 'text'), /^kubedoh: no object of kind DNS /)
    assert.match(await stderrOf('nodelocal', 'empty'), /^kubedoh: no Corefile, and no ConfigMap /)
    assert.match(await stderrOf('openshift', 'folder'), /^kubedoh: folder: it is a folder\n$/)
    assert.match(await stderrOf('kube-dns', 'b.yaml'), /^kubedoh: b\.yaml:1: .*[^:]\n$/)
  })

  const dns = (spec: object): string =>
    JSON.stringify({ apiVersion: 'operator.openshift.io/v1', kind: 'DNS', spec })
  const server = (more: object): string =>
    dns({
      servers: [
        { name: 'a', zones: ['a.test'], forwardPlugin: { upstreams: ['192.0.2.1'] }, ...more },
      ],
    })
  const stubs = (value: unknown): string =>
    JSON.stringify({ kind: 'ConfigMap', data: { stubDomains: JSON.stringify(value) } })
  const unloadable: readonly (readonly [system: string, text: string, reason: RegExp])[] = [
    [
      'openshift',
      server({ zones: ['bad..zone'] }),
      /errors:\nCorefile:2:1: spec\.servers\[0\]: "bad\.\.zone" is not a domain name\n/,
    ],
    [
      'openshift',
      server({ zones: ['a.test', 'a.test'] }),
      /errors:\nCorefile:2:13: spec\.servers\[0\]: zone "a\.test\." is served at port 5353 already/,
    ],
    [
      'openshift',
      server({ forwardPlugin: { upstreams: ['10.0.0.1:abc'] } }),
      /errors:\nCorefile:4:15: spec\.servers\[0\]: "10\.0\.0\.1:abc" is neither/,
    ],
    [
      'kube-dns',
      stubs({ 'a.test': ['10.0.0.1:abc'] }),
      /stubDomains: "a\.test": "10\.0\.0\.1:abc"/,
    ],
    ['kube-dns', stubs({ 'a.test': Array(16).fill('10.0.0.1') }), /stubDomains: "a.test": 16 up/],
    [
      'nodelocal',
      '. {\n    nonsense\n}\n',
      /the Corefile would have errors:\nCorefile:2:5: .*nonsense/,
    ],
    ['nodelocal', '. {\n', /would have errors|is not closed/],
    ['dnsmasq', 'server=/a..b/192.0.2.1', /the Corefile would have errors:\nCorefile:/],
    ['skydns', 'SKYDNS_DOMAIN=a..b', /the Corefile would have errors:\nCorefile:/],
    ['skydns', 'SKYDNS_NAMESERVERS=10.0.0.1:abc', /the Corefile would have errors:\nCorefile:/],
  ]
  for (const [system, text, reason] of unloadable) {
    test(`writes no Corefile that would not load: ${system} ${text.slice(-60)}`, async (t) => {
      const folder = temporaryFolder(t, { file: text, 'file.json': text })
      const file = text.startsWith('{') ? 'file.json' : 'file'
      const { status, stdout, stderr } = await runCli(['convert', system, join(folder, file)])
      assert.match(stderr, reason)
      assert.deepEqual([status, stdout], [1, ''])
    })
  }

  test('writes a Corefile whose files are on another machine, and names them', async (t) => {
    const files = { dns: 'resolv-file=/none/resolv.conf\n', sky: 'ETCD_CACERT=/none/ca.crt' }
    const folder = temporaryFolder(t, files)
    const lists = await runCli(['convert', 'dnsmasq', join(folder, 'dns')])
    const place = 'is not on this machine; it must be where the Corefile is used'
    assert.match(lists.stdout, /forward \. \/none\/resolv\.conf/)
    assert.match(lists.stderr, new RegExp(`notice: "/none/resolv.conf" ${place}\n`))
    const ca = await runCli(['convert', 'skydns', join(folder, 'sky')])
    assert.match(ca.stdout, /tls \/none\/ca\.crt/)
    assert.match(ca.stderr, new RegExp(`notice: "/none/ca.crt" ${place}\n`))
    assert.deepEqual([lists.status, ca.status], [0, 0])
  })

  test('rejects an unused value of --set', async () => {
    const path = join(FOLDER, 'openshift-untouched/dns.yaml')
    assert.deepEqual(
      await runCli(['convert', 'openshift', path, '--set', 'domian=x']),
      failed('kubedoh: --set domian: this conversion has no such value'),
    )
  })

  test('rejects an unknown system', async () => {
    const { status, stderr } = await runCli(['convert', 'bind9', 'named.conf'])
    assert.equal(status, 2)
    assert.match(stderr, /unknown command 'bind9'/)
  })
})
