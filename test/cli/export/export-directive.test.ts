import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { loadExportDirectives } from '../../../src/cli/export/export-directive.ts'
import { formatName } from '../../../src/dns/names/name.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'

describe('the directive of an export', () => {
  test('is kubeadm’s without a Corefile', () => {
    const { zones, pods, ttlSeconds, cluster } = loadExportDirectives('').directive
    assert.deepEqual(
      zones.map((zone) => formatName(zone)),
      ['cluster.local.', 'in-addr.arpa.', 'ip6.arpa.'],
    )
    assert.deepEqual([pods, ttlSeconds, cluster], ['insecure', 30, undefined])
  })

  test('is the one in the Corefile, with the zones of its block by default', (t) => {
    const corefile = '. {\n  whoami\n}\nprod.example.org:53 {\n  kubernetes {\n    ttl 7\n  }\n}\n'
    const path = join(temporaryFolder(t, { Corefile: corefile }), 'Corefile')
    const { zones, ttlSeconds } = loadExportDirectives(path).directive
    assert.deepEqual(
      zones.map((zone) => formatName(zone)),
      ['prod.example.org.'],
    )
    assert.equal(ttlSeconds, 7)
  })

  test('comes with where the keys of each path are', (t) => {
    const etcd = (path: string): string => `etcd {\n    path ${path}\n  }\n`
    const blocks = ['/a', '/b'].map((path) => `${path[1]}.test {\n  ${etcd(path)}}\n`)
    const corefile = `. {\n  kubernetes cluster.local\n}\n${blocks.join('')}`
    const path = join(temporaryFolder(t, { Corefile: corefile }), 'Corefile')
    const found = loadExportDirectives(path).etcd
    assert.deepEqual(
      found.map((one) => [one.path, one.endpoints]),
      [
        ['/a', ['http://localhost:2379']],
        ['/b', ['http://localhost:2379']],
      ],
    )
  })

  const directive = '  kubernetes cluster.local\n'
  const cases: { name: string; corefile: string; error: { name: string; message: string } }[] = [
    {
      name: 'is missed',
      corefile: '. {\n  whoami\n}\n',
      error: { name: 'CommandError', message: 'FILE: no "kubernetes" directive to export' },
    },
    {
      name: 'is not two',
      corefile: `. {\n${directive}}\n\nexample.org {\n${directive}}\n`,
      error: {
        name: 'ConfigError',
        message:
          'FILE:6:3: export takes one "kubernetes" directive, and this is the second; remove one',
      },
    },
    {
      name: 'may stand beside two of k8s_gateway with different addresses, and no third one',
      corefile: `a.test {\n${directive}  k8s_gateway\n}\na.test {\n  k8s_gateway {\n    clusterIPs\n  }\n}\nb.test {\n  k8s_gateway\n}\n`,
      error: {
        name: 'ConfigError',
        message:
          'FILE:11:3: export takes one "k8s_gateway" directive, and one with "clusterIPs"; remove this one',
      },
    },
    {
      name: 'may stand beside those of one etcd, and not of another',
      corefile: `a.test {\n${directive}  etcd\n}\nb.test {\n  etcd {\n    path /b\n  }\n}\nc.test {\n  etcd {\n    endpoint http://c\n  }\n}\n`,
      error: {
        name: 'ConfigError',
        message:
          'FILE:11:3: export reads one etcd: "etcd" directives may differ in "path" and zones only',
      },
    },
    {
      name: 'is checked',
      corefile: '. {\n  kubernetes cluster.local {\n    ttl -1\n  }\n}\n',
      error: { name: 'ConfigError', message: 'FILE:3:9: "-1" is not a number from 0 to 3600' },
    },
  ]
  for (const { name, corefile, error } of cases) {
    test(name, (t) => {
      const path = join(temporaryFolder(t, { Corefile: corefile }), 'Corefile')
      const message = error.message.replace('FILE', path)
      assert.throws(() => loadExportDirectives(path), { ...error, message })
    })
  }
})
