import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { adviseOn } from '../../../../src/resolver/chain/advice.ts'
import { ALL_PLUGINS } from '../../../../src/resolver/plugins/all-plugins.ts'
import { block, parseBlocks } from '../../../ask.ts'

const FILES: Readonly<Record<string, string>> = {
  stub: '# resolved\nnameserver 127.0.0.53\nsearch a.test\n',
  self: 'nameserver 192.0.2.1\nnameserver ::1\n',
  fine: 'nameserver 192.0.2.1\nnameserver fe80::1%eth0\n',
}

function adviceOf(corefile: string): string[] {
  const blocks = parseBlocks(corefile)
  return adviseOn({ blocks, plugins: ALL_PLUGINS, readText: (path) => FILES[path] })
    .filter(({ message }) => /this server itself|on this machine|systemd/.test(message))
    .map(({ line, column, message }) => `${line}:${column}: ${message}`)
}

const STUB =
  'the stub of systemd-resolved, which no container can reach and which may query this ' +
  'server; "/run/systemd/resolve/resolv.conf" lists its upstreams'
const SELF = 'this server itself: queries for "." loop'

describe('adviseOnUpstreams', () => {
  const cases: { name: string; corefile: string; advice: string[] }[] = [
    {
      name: "warns of systemd-resolved's stub",
      corefile: block('forward . stub'),
      advice: [`2:13: "stub" lists 127.0.0.53 on this machine, ${STUB}`],
    },
    {
      name: "warns of systemd-resolved's stub by its address",
      corefile: block('forward . 192.0.2.1 127.0.0.53:53'),
      advice: [`2:23: 127.0.0.53 is ${STUB}`],
    },
    {
      name: 'warns of an upstream in a file that is this server',
      corefile: block('forward . self'),
      advice: [`2:13: "self" lists ::1 on this machine, ${SELF}`],
    },
    {
      name: 'warns of the own port, with and without brackets',
      corefile: '.:5353 {\n forward . 127.0.0.1:5353 dns://[::1]:5353\n}',
      advice: [`2:12: 127.0.0.1 is ${SELF}`, `2:27: ::1 is ${SELF}`],
    },
    {
      name: 'warns of an address that the block binds to',
      corefile: block('bind 192.0.2.7 2001:DB8::7', 'forward . 2001:db8:0::7'),
      advice: [`3:13: 2001:db8::7 is ${SELF}`],
    },
    {
      name: 'says nothing of a loopback address that the block does not bind to',
      corefile: block('bind 192.0.2.7', 'forward . 127.0.0.1'),
      advice: [],
    },
    {
      name: 'says nothing of another port, where another block may be',
      corefile: '.:5353 {\n forward . 127.0.0.1\n}\n. {\n whoami\n}',
      advice: [],
    },
    {
      name: 'says nothing of names that are queried elsewhere',
      corefile: 'a.test {\n forward b.test 127.0.0.1\n}',
      advice: [],
    },
    {
      name: 'says nothing of queries that come back as others',
      corefile: 'a.test {\n rewrite name suffix .a.test .b.test\n forward . 127.0.0.1\n}',
      advice: [],
    },
    {
      name: 'says nothing of other servers',
      corefile: block('forward . fine 192.0.2.1 tls://127.0.0.1 https://127.0.0.1/dns-query'),
      advice: [],
    },
  ]
  for (const { name, corefile, advice } of cases) {
    test(name, () => {
      assert.deepEqual(adviceOf(corefile), advice)
    })
  }
})
