import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { ALL_PLUGINS } from '../../../src/resolver/plugins/all-plugins.ts'

/** The plugins of CoreDNS 1.14, in the order of its plugin.cfg. */
const COREDNS = (
  'root metadata geoip cancel proxyproto quic grpc_server https https3 timeouts multisocket ' +
  'reload nsid bufsize bind debug trace ready health pprof shed prometheus errors log dnstap ' +
  'local dns64 any chaos loadbalance tsig rewrite autopath acl cache header dnssec tls minimal ' +
  'template transfer hosts route53 azure clouddns k8s_external kubernetes file auto secondary ' +
  'etcd loop forward grpc erratic whoami on sign view nomad'
).split(' ')

/** Places of plugins that CoreDNS lacks; k8s_gateway's own build has it in place of kubernetes. */
const AFTER_BUFSIZE = COREDNS.indexOf('bufsize') + 1
const AFTER_KUBERNETES = COREDNS.indexOf('kubernetes') + 1

describe('ALL_PLUGINS', () => {
  test('act in the order of CoreDNS', () => {
    assert.deepEqual(
      [...ALL_PLUGINS.keys()],
      [
        ...COREDNS.slice(0, AFTER_BUFSIZE),
        'cookies',
        ...COREDNS.slice(AFTER_BUFSIZE, AFTER_KUBERNETES),
        'k8s_gateway',
        ...COREDNS.slice(AFTER_KUBERNETES),
      ].filter((name) => ALL_PLUGINS.has(name)),
    )
  })
})
