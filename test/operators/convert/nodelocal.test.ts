import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { Settings } from '../../../src/operators/convert/conversion.ts'
import { convertNodeLocal, type NodeLocalSource } from '../../../src/operators/convert/nodelocal.ts'

function convert(source: Partial<NodeLocalSource>, ...settings: readonly string[]): string {
  const whole = { texts: [], documents: [], ...source }
  return convertNodeLocal(whole, new Settings(settings)).corefile
}

const DAEMON_SET = {
  kind: 'DaemonSet',
  spec: { template: { spec: { containers: [{ args: ['-localip=1.1.1.1', '-skipteardown'] }] } } },
}

describe('convertNodeLocal puts in', () => {
  const cases: {
    name: string
    source: Partial<NodeLocalSource>
    settings?: string[]
    text: string
  }[] = [
    {
      name: 'what is usual',
      source: {
        texts: ['__PILLAR__DNS__DOMAIN__ __PILLAR__LOCAL__DNS__ __PILLAR__UPSTREAM__SERVERS__'],
      },
      text: 'cluster.local 169.254.20.10 /etc/resolv.conf\n',
    },
    {
      name: 'what is configured',
      source: { texts: ['__PILLAR__LOCAL__DNS__ __PILLAR__DNS__SERVER__:53'] },
      settings: ['local-dns=192.0.2.1', 'dns-server=192.0.2.2'],
      text: '192.0.2.1 192.0.2.2:53\n',
    },
    {
      name: 'what the flags say',
      source: { texts: ['__PILLAR__LOCAL__DNS__'], documents: [DAEMON_SET] },
      text: '1.1.1.1\n',
    },
    {
      name: 'addresses of Services',
      source: {
        texts: ['__PILLAR__CLUSTER__DNS__ __PILLAR__DNS__SERVER__'],
        documents: [
          { kind: 'Service', metadata: { name: 'kube-dns' }, spec: { clusterIP: '10.96.0.10' } },
          {
            kind: 'Service',
            metadata: { name: 'kube-dns-upstream' },
            spec: { clusterIP: '10.96.0.11' },
          },
        ],
      },
      text: '10.96.0.11 10.96.0.10\n',
    },
    {
      name: 'nothing where there is no place',
      source: { texts: ['.:53 {\n}\n\n'] },
      text: '.:53 {\n}\n',
    },
  ]
  for (const { name, source, settings = [], text } of cases) {
    test(name, () => {
      assert.equal(convert(source, ...settings), text)
    })
  }

  test('configured upstreams over UDP', () => {
    const template = 'forward . __PILLAR__UPSTREAM__SERVERS__ {\n  force_tcp\n}'
    const data = { upstreamNameservers: '["192.0.2.1", "192.0.2.2"]' }
    const documents = [{ kind: 'ConfigMap', data }]
    assert.equal(convert({ texts: [template], documents }), 'forward . 192.0.2.1 192.0.2.2\n')
  })
})

describe('convertNodeLocal', () => {
  test('adds a notice for flags without an equivalent', () => {
    const source = { texts: ['.'], documents: [DAEMON_SET] }
    assert.deepEqual(convertNodeLocal(source, new Settings([])).notices, [
      '-skipteardown has no equivalent: pass it to kubedoh node-cache',
    ])
  })

  test('names what it drops', () => {
    const args = ['-localip', '1.1.1.1', 'loose', '-health-port=8080', '-new', 'x', '-conf=/a']
    const container = { args, image: 'x', command: ['/node-cache'] }
    const metadata = { namespace: 'kube-system', name: 'node-local-dns' }
    const documents = [
      { kind: 'ServiceAccount', metadata },
      {
        kind: 'Service',
        metadata: { name: 'kube-dns-upstream' },
        spec: { clusterIP: '10.96.0.11', ports: [{ port: 53 }] },
      },
      { kind: 'ConfigMap', metadata, data: { Corefile: '__PILLAR__CLUSTER__DNS__', more: 'x' } },
      {
        kind: 'DaemonSet',
        metadata,
        spec: { selector: { a: 'b' }, template: { spec: { containers: [container], x: 1 } } },
      },
      { kind: 'Deployment', metadata: { name: 'other' }, spec: { replicas: 1 } },
    ]
    assert.deepEqual(convertNodeLocal({ texts: [], documents }, new Settings([])).notices, [
      '-health-port has no equivalent: pass it to kubedoh node-cache',
      '-new has no effect on the Corefile',
      '-conf has no equivalent: pass it to kubedoh node-cache',
      'argument "loose" has no effect on the Corefile',
      'ServiceAccount kube-system/node-local-dns has no effect on the Corefile',
      'Service kube-dns-upstream: spec.ports has no effect on the Corefile',
      'ConfigMap kube-system/node-local-dns: data.more has no effect on the Corefile',
      'DaemonSet kube-system/node-local-dns: spec.selector, ' +
        'spec.template.spec.containers[0].image, spec.template.spec.containers[0].command, ' +
        'spec.template.spec.x have no effect on the Corefile',
      'Deployment other has no effect on the Corefile',
    ])
  })

  test('names the Corefiles after the first', () => {
    const { notices } = convertNodeLocal(
      { texts: ['.', 'b', ' '], documents: [] },
      new Settings([]),
    )
    assert.deepEqual(notices, ['only the first of 2 Corefiles is converted'])
  })

  test('refuses values that are no addresses', () => {
    const bad = {
      kind: 'DaemonSet',
      spec: { template: { spec: { containers: [{ args: ['-localip=1.1.1.1\n}'] }] } } },
    }
    const source = { texts: ['__PILLAR__LOCAL__DNS__'], documents: [bad] }
    assert.throws(
      () => convertNodeLocal(source, new Settings([])),
      /-localip "1.1.1.1\\n}" is not an address/,
    )
  })

  const wrong: { name: string; source: Partial<NodeLocalSource>; message: RegExp }[] = [
    {
      name: 'no template',
      source: { documents: [DAEMON_SET, 1] },
      message: /^no Corefile, and no/,
    },
    {
      name: 'a word of another template',
      source: { texts: ['__PILLAR__OTHER__'] },
      message: /^"__PILLAR__OTHER__" is not a placeholder of NodeLocal DNSCache$/,
    },
    {
      name: 'a missing Service',
      source: { texts: ['__PILLAR__CLUSTER__DNS__'] },
      message: /^the address of Service kube-dns-upstream is unknown; pass --set cluster-dns=IP/,
    },
  ]
  for (const { name, source, message } of wrong) {
    test(`refuses ${name}`, () => {
      assert.throws(() => convert(source), { name: 'ConversionError', message })
    })
  }
})
