/**
 * `npm run test:modes`: the cache of a node with real interfaces, nftables and iptables, in network
 * namespaces. Needs root.
 * @module
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { test, vi } from 'vitest'
import { findMissing } from '../clients/programs.ts'
import { describeUnless } from '../describe-unless.ts'
import { BY_CACHE, BY_CLUSTER, LOCAL, Node, SLOW, WHO } from './node.ts'

/** Enough for a query to reach the cache, and less than the cluster takes for the response. */
const IN_FLIGHT_MS = 700

const missing =
  process.getuid?.() === 0
    ? ['ip', 'nft', 'iptables', 'ip6tables', 'conntrack', 'dig']
        .map(findMissing)
        .find((one) => one !== undefined)
    : 'needs root for network namespaces'

/** The node's addresses, its own rules and ours, without what changes by itself. */
function stateOf(node: Node): readonly string[] {
  const text = node.sh(`ip -o address show scope global
nft list tables | grep kubedoh || true
iptables-save | grep -E "^-A|^:KUBEDOH" || true
ip6tables-save | grep -E "^-A|^:KUBEDOH" || true`)
  return text
    .replace(/^\d+: | \[\d+:\d+\]/gm, '')
    .trim()
    .split('\n')
    .sort()
}

/** The conntrack entries of the pod's queries. */
function tracked(node: Node): readonly string[] {
  const lines = node.sh('cat /proc/net/nf_conntrack').split('\n')
  return lines.filter((line) => / src=(10\.244\.0\.2|fd00:0244:\S+:0002) .* dport=53 /.test(line))
}

describeUnless(missing, 'node-cache', () => {
  for (const rules of ['iptables', 'nftables']) {
    test(`takes over the Service with ${rules}, and gives it back`, async (t) => {
      const node = await Node.create(t)
      const before = stateOf(node)
      for (const server of ['10.96.0.10', 'fd00:96::10']) {
        assert.equal(node.dig(server, WHO), BY_CLUSTER)
      }
      assert.equal(tracked(node).length, 2)
      node.sh('conntrack -F')

      const cache = await node.startCache('--rules', rules)
      for (const server of LOCAL) {
        for (const option of ['+notcp', '+tcp']) {
          assert.equal(node.dig(server, WHO, option), BY_CACHE, server)
          assert.equal(node.dig(server, 'web.shop.svc.cluster.local', option), '192.0.2.80')
          assert.equal(
            node.dig(server, 'web.shop.svc.cluster.local', option, 'AAAA'),
            '2001:db8::80',
          )
        }
      }
      assert.deepEqual(tracked(node), [])
      await node.stop(cache)
      assert.deepEqual(stateOf(node), before)
      for (const server of ['10.96.0.10', 'fd00:96::10']) {
        assert.equal(node.dig(server, WHO), BY_CLUSTER)
      }
    })

    test(`leaves the ports of its last responses to the Service (${rules})`, async (t) => {
      const node = await Node.create(t)
      const cache = await node.startCache('--rules', rules)
      const port = 40_053
      const asked = node.digLater('10.96.0.10', SLOW, `-b 10.244.0.2#${port}`)
      await setTimeout(IN_FLIGHT_MS)
      await node.stop(cache)
      assert.equal(await asked, '192.0.2.53')
      assert.equal(node.dig('10.96.0.10', WHO, `-b 10.244.0.2#${port}`), BY_CLUSTER)
    })

    test(`restores what somebody removes (${rules})`, async (t) => {
      const node = await Node.create(t)
      const cache = await node.startCache('--rules', rules, '-syncinterval', '1')
      const complete = stateOf(node)
      node.sh('ip link delete nodelocaldns')
      if (rules === 'nftables') node.sh('nft delete table inet kubedoh_node_cache')
      else node.sh('iptables -t raw -F; ip6tables -t raw -F; iptables -F; ip6tables -F')
      const isRestored = (): void => assert.deepEqual(stateOf(node), complete)
      await vi.waitFor(isRestored, 20_000)
      assert.equal(node.dig('169.254.20.10', WHO), BY_CACHE)
      node.sh('ip address add 192.0.2.77/32 dev nodelocaldns')
      await vi.waitFor(isRestored, 20_000)
      assert.match(cache.output(), /restoring nodelocaldns: an address is missing/)
    })
  }

  for (const [from, to] of [
    ['iptables', 'nftables'],
    ['nftables', 'iptables'],
    ['iptables', 'iptables'],
  ] as const) {
    test(`removes the rules of a cache with other flags (${from}, then ${to})`, async (t) => {
      const node = await Node.create(t)
      const before = stateOf(node)
      const killed = await node.startCache('--rules', from)
      const ended = once(killed.child, 'exit')
      killed.child.kill('SIGKILL')
      await ended
      // Without addresses of IPv6: nothing may keep its queries from the Service.
      const cache = await node.startCache('--rules', to, '-localip', '169.254.20.10,10.96.0.10')
      assert.equal(node.dig('10.96.0.10', WHO), BY_CACHE)
      await vi.waitFor(() => assert.equal(node.dig('fd00:96::10', WHO), BY_CLUSTER), 20_000)
      await node.stop(cache)
      assert.deepEqual(stateOf(node), before)
    })
  }

  for (const rules of ['iptables', 'nftables']) {
    test(`leaves interface and rules to a newer cache with other addresses (${rules})`, async (t) => {
      const node = await Node.create(t)
      const before = stateOf(node)
      const flags = ['--rules', rules, '-syncinterval', '1']
      const older = await node.startCache(...flags)
      const newer = await node.startCache(...flags, '-localip', '169.254.20.10')
      const running = stateOf(node)
      assert.doesNotMatch(running.join('\n'), /nodelocaldns +inet 10\.96/)
      // More than one interval in which each could undo what the other did.
      await setTimeout(3000)
      assert.deepEqual(stateOf(node), running)
      assert.equal(node.dig('10.96.0.10', WHO), BY_CLUSTER)
      assert.equal(node.dig('169.254.20.10', WHO), BY_CACHE)
      await node.stop(older)
      assert.deepEqual(stateOf(node), running)
      assert.equal(node.dig('10.96.0.10', WHO), BY_CLUSTER)
      await node.stop(newer)
      assert.deepEqual(stateOf(node), before)
    })
  }

  test('prints a script that does the same', async (t) => {
    const node = await Node.create(t)
    const cache = await node.startCache()
    const running = stateOf(node)
    await node.stop(cache)
    const before = stateOf(node)
    const corefile = join(node.folder, 'Corefile')
    rmSync(corefile)
    const printing = node.start(['node-cache', ...node.cacheArgs(), '--print'], {
      KUBE_DNS_UPSTREAM_SERVICE_HOST: '10.96.0.11',
    })
    await node.shows(printing, /# ip link delete dev nodelocaldns\n/)
    const [setup = '', undo = ''] = printing.output().split('# On exit:\n')
    node.sh(setup)
    assert.deepEqual(stateOf(node), running)
    node.sh(undo.replace(/^# /gm, ''))
    assert.deepEqual(stateOf(node), before)
  })

  test('leaves nothing when the Corefile is invalid', async (t) => {
    const node = await Node.create(t)
    const before = stateOf(node)
    writeFileSync(join(node.folder, 'Corefile.base'), '.:53 {\n    nosuchplugin\n}\n')
    const cache = node.start(['node-cache', ...node.cacheArgs()])
    const [status] = await once(cache.child, 'exit')
    assert.equal(status, 1)
    assert.match(cache.output(), /Corefile:2/)
    assert.deepEqual(stateOf(node), before)
  })

  test("serves a pod's resolver by its resolv.conf", async (t) => {
    const node = await Node.create(t)
    await node.startCache()
    for (const server of LOCAL) {
      node.setResolvConf(
        `nameserver ${server}\nsearch shop.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5\n`,
      )
      assert.match(node.pod('getent ahostsv4 web'), /^192\.0\.2\.80 /)
      assert.match(node.pod('getent ahostsv6 web.shop'), /^2001:db8::80 /)
    }
  })

  test('loses no query when one pod replaces another', async (t) => {
    const node = await Node.create(t)
    // Connections that the first process has not accepted yet go to the second.
    node.sh('sysctl -qw net.ipv4.tcp_migrate_req=1')
    let cache = await node.startCache()
    const running = stateOf(node)
    const load = await node.load(WHO, LOCAL)
    for (let i = 0; i < 3; i++) {
      const next = await node.startCache()
      await node.stop(cache)
      assert.match(cache.output(), /left interface and rules as they are/)
      cache = next
    }
    const counts = await load.stop()
    process.stdout.write(`${JSON.stringify(counts)}\n`)
    assert.ok(counts.udp > 1000 && counts.tcp > 100)
    assert.deepEqual([counts.lostUdp, counts.lostTcp], [0, 0])
    assert.deepEqual(stateOf(node), running)
  })
})
