import assert from 'node:assert/strict'
import { test } from 'vitest'
import { parseKubernetes } from '../../src/corefile/kubernetes-options.ts'
import { connectionOf } from '../../src/exporter/api-connection.ts'
import type { ApiConnection } from '../../src/exporter/object-api.ts'
import { directive, parseDirective } from '../ask.ts'

const URL_TEXT = 'https://api.example.org:6443'

const cases: {
  name: string
  options: readonly string[]
  kubeconfig?: string
  connection: ApiConnection
}[] = [
  { name: 'is the default without a word', options: [], connection: { kind: 'default' } },
  {
    name: 'is the flag, as it was given',
    options: [],
    kubeconfig: 'a/config',
    connection: { kind: 'kubeconfig', path: 'a/config', context: undefined },
  },
  {
    name: 'is the flag, whatever the directive says',
    options: ['kubeconfig other context', `endpoint ${URL_TEXT}`],
    kubeconfig: '/a/config',
    connection: { kind: 'kubeconfig', path: '/a/config', context: undefined },
  },
  {
    name: 'is the directive’s kubeconfig, from beside the Corefile',
    options: ['kubeconfig ../config'],
    connection: { kind: 'kubeconfig', path: '/etc/config', context: undefined },
  },
  {
    name: 'is a context of it',
    options: ['kubeconfig /root/config prod'],
    connection: { kind: 'kubeconfig', path: '/root/config', context: 'prod' },
  },
  {
    name: 'is an endpoint',
    options: [`endpoint ${URL_TEXT}`],
    connection: { kind: 'endpoint', url: URL_TEXT, tls: undefined },
  },
  {
    name: 'is an endpoint with files from beside the Corefile',
    options: [`endpoint ${URL_TEXT}`, 'tls cert.pem /keys/key.pem ca.pem'],
    connection: {
      kind: 'endpoint',
      url: URL_TEXT,
      tls: { cert: '/etc/dns/cert.pem', key: '/keys/key.pem', ca: '/etc/dns/ca.pem' },
    },
  },
]
for (const { name, options, kubeconfig = '', connection } of cases) {
  test(`the way to the API server ${name}`, () => {
    const line = parseDirective(directive('kubernetes cluster.local', ...options))
    const found = connectionOf(parseKubernetes(line, []), { kubeconfig, folder: '/etc/dns' })
    assert.deepEqual(found, connection)
  })
}
