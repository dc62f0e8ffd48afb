import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../../src/dns/names/name.ts'
import { adviseOn, servingBlock } from '../../../src/resolver/chain/advice.ts'
import { STANDARD_PORTS } from '../../../src/resolver/contract/server-address.ts'
import { ALL_PLUGINS } from '../../../src/resolver/plugins/all-plugins.ts'
import { block, parseBlocks } from '../../ask.ts'

/** What is said of a Corefile, `line:column: message`. */
function adviceOf(corefile: string, files: Readonly<Record<string, string>> = {}): string[] {
  return adviseOn({
    blocks: parseBlocks(corefile),
    plugins: ALL_PLUGINS,
    readText: (path) => files[path],
  }).map(({ line, column, message }) => `${line}:${column}: ${message}`)
}

const KUBEADM = `.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30
    loop
    reload
    loadbalance
}
`

describe('adviseOn says nothing of', () => {
  const cases: { name: string; corefile: string }[] = [
    { name: "kubeadm's Corefile", corefile: KUBEADM },
    {
      name: 'several forwards for different zones',
      corefile: block('forward a.test 192.0.2.1', 'forward . 192.0.2.2'),
    },
    {
      name: 'a forward that leaves zones to the next',
      corefile: block('forward . 192.0.2.1 {\n except a.test\n }', 'forward a.test 192.0.2.2'),
    },
    {
      name: 'hosts that let through, before forward',
      corefile: block('hosts {\n fallthrough\n }', 'forward . 192.0.2.1'),
    },
    {
      name: 'hosts that let some through',
      corefile: block('hosts {\n fallthrough a.test\n }', 'forward . 192.0.2.1'),
    },
    {
      name: "k3s's Corefile, where hosts below kubernetes lets everything else through",
      corefile: block('kubernetes a.test', 'hosts db {\n fallthrough\n }', 'forward . 192.0.2.1'),
    },
    {
      name: 'hosts for other names than forward',
      corefile: block('hosts db a.test', 'forward . 192.0.2.1'),
    },
    {
      name: 'plugins above others that act on other names',
      corefile: block('forward b.test 192.0.2.1', 'hosts db a.test {\n fallthrough\n }'),
    },
    {
      name: 'cache and rewrite below kubernetes',
      corefile: block('kubernetes a.test', 'rewrite type A AAAA', 'cache'),
    },
    {
      name: 'zones that come to the block by rewrite',
      corefile: 'a.test {\n rewrite name suffix .a.test .b.test\n kubernetes b.test\n}',
    },
    {
      name: 'a template without expression',
      corefile: block('template IN A', 'forward . 192.0.2.1'),
    },
    {
      name: 'a block for clients that send one type of query',
      corefile: 'a.test {\n template IN A {\n match x\n }\n}',
    },
    {
      name: 'zones that a block of a view may get',
      corefile: '. {\n kubernetes a.test\n}\na.test {\n view x {\n expr true\n }\n whoami\n}',
    },
    {
      name: 'zones that are served on another port only',
      corefile: '.:53 {\n kubernetes a.test\n}\na.test:5353 {\n whoami\n}',
    },
    {
      name: 'pods insecure over plain DNS',
      corefile: block('kubernetes a.test {\n pods insecure\n }'),
    },
  ]
  for (const { name, corefile } of cases) {
    test(name, () => {
      assert.deepEqual(adviceOf(corefile, { '/etc/resolv.conf': 'nameserver 192.0.2.1\n' }), [])
    })
  }
})

describe('adviseOn warns about', () => {
  const cases: { name: string; corefile: string; advice: string[] }[] = [
    {
      name: 'a block in which nothing answers',
      corefile: 'a.test {\n log\n cache\n}',
      advice: ['1:1: nothing in this server block answers: every query is refused or fails'],
    },
    {
      name: 'a plugin that is read as a zone',
      corefile: 'a.test {\n whoami\n}\nforward . 192.0.2.1 {\n whoami\n}',
      advice: ['4:1: "forward" is read as a zone here; does a "}" above close too much?'],
    },
    {
      name: 'a star that replaces nothing else',
      corefile: '*.a.test {\n whoami\n}',
      advice: [
        '1:1: "*" in "*.a.test" is a literal label; a zone includes all names below it anyway',
      ],
    },
    {
      name: 'lines that hosts skips',
      corefile: block(
        'hosts {\n 192.0.2.1 a.test\n fe80::1%eth0 b.test\n a.test 192.0.2.1\n ttl 5\n }',
      ),
      advice: ['5:2: "a.test" is neither an address nor an option: "hosts" skips this line'],
    },
    {
      name: 'pods insecure over HTTPS',
      corefile: 'https://. {\n kubernetes a.test {\n  pods insecure\n }\n}',
      advice: [
        '3:8: "pods insecure" lets any client of "https://" get a name for any address; ' +
          '"pods verified" has names of existing pods only',
      ],
    },
    {
      name: 'a zone outside of the block',
      corefile: 'a.test b.test {\n kubernetes c.test a.test\n}',
      advice: [
        '2:13: "kubernetes" gets no queries for "c.test": this server block serves only "a.test.", ' +
          '"b.test."',
      ],
    },
    {
      name: 'a zone that another block serves',
      corefile: '. {\n kubernetes a.test\n forward . 192.0.2.1\n}\na.test {\n whoami\n}',
      advice: [
        '2:13: "kubernetes" gets no queries for "a.test": the server block of line 5 serves it',
      ],
    },
    {
      name: 'a zone below one that another block serves, at the standard port as well',
      corefile: '.:53 {\n file db x.a.test\n}\na.test {\n whoami\n}',
      advice: ['2:10: "file" gets no queries for "x.a.test": the server block of line 4 serves it'],
    },
    {
      name: 'forward after hosts that keep all names',
      corefile: block('hosts', 'forward . 192.0.2.1'),
      advice: [
        '3:3: "forward" gets no queries: "hosts" of line 2 comes first and answers all of its ' +
          'names itself, and has no "fallthrough" for those it does not know',
      ],
    },
    {
      name: 'forward after kubernetes for the whole block',
      corefile: 'a.test {\n forward . 192.0.2.1\n kubernetes a.test\n}',
      advice: [
        '2:2: "forward" gets no queries: "kubernetes" of line 3 comes first and answers all of its ' +
          'names itself, and has no "fallthrough" for those it does not know',
        '3:2: "kubernetes" acts before "forward" of line 2, whatever their order here: ' +
          'kubernetes, forward',
      ],
    },
    {
      name: 'a forward after one that takes everything',
      corefile: block('forward . 192.0.2.1', 'forward a.test 192.0.2.2'),
      advice: [
        '3:3: "forward" gets no queries: "forward" of line 2 comes first and takes all of its names',
      ],
    },
    {
      name: 'an order in the file that is not that of plugins',
      corefile: block(
        'kubernetes a.test',
        'forward . 192.0.2.1',
        'hosts {\n fallthrough\n }',
        'file db b.test',
      ),
      advice: [
        '4:3: "hosts" acts before "forward" of line 3, whatever their order here: hosts, ' +
          'kubernetes, file, forward',
      ],
    },
    {
      name: 'an order in the file that is not that of plugins, where one keeps names from another',
      corefile: block('file db a.test', 'kubernetes test'),
      advice: [
        '2:3: "file" gets no queries: "kubernetes" of line 3 comes first and answers all of its ' +
          'names itself, and has no "fallthrough" for those it does not know',
        '3:3: "kubernetes" acts before "file" of line 2, whatever their order here: kubernetes, file',
      ],
    },
    {
      name: 'a template that keeps what it does not match',
      corefile: block('template IN AAAA a.test {\n match x\n }', 'forward . 192.0.2.1'),
      advice: [
        '2:3: AAAA queries that match no expression fail here; with "fallthrough" they go on to ' +
          '"forward" of line 5',
      ],
    },
  ]
  for (const { name, corefile, advice } of cases) {
    test(name, () => {
      assert.deepEqual(adviceOf(corefile), advice)
    })
  }
})

/** The line of the block that serves a name where the first block listens. */
function lineFor(corefile: string, name: string): number | undefined {
  const blocks = parseBlocks(corefile)
  const first = blocks[0] ?? assert.fail()
  const key = first.keys[0] ?? assert.fail()
  const place = { key, block: first, blocks, ports: STANDARD_PORTS, plugins: ALL_PLUGINS }
  return servingBlock(nameOf(name), place)?.line
}

describe('servingBlock', () => {
  const cases: { name: string; corefile: string; asked: string; line: number | undefined }[] = [
    { name: 'is the only one', corefile: '. {\n}', asked: 'a.test', line: 1 },
    { name: 'is none for other names', corefile: 'a.test {\n}', asked: 'b.test', line: undefined },
    {
      name: 'has the longest zone',
      corefile: '. {\n}\ntest {\n}\na.test {\n}',
      asked: 'x.a.test',
      line: 5,
    },
    {
      name: 'is at the same port, said or not',
      corefile: '. {\n}\na.test:5353 {\n}\ntest:53 {\n}',
      asked: 'a.test',
      line: 5,
    },
    {
      name: 'has the same transport',
      corefile: '. {\n}\ntls://a.test:53 {\n}',
      asked: 'a.test',
      line: 1,
    },
    {
      name: 'has the same addresses',
      corefile: '. {\n}\na.test {\nbind 192.0.2.1\n}',
      asked: 'a.test',
      line: 1,
    },
    {
      name: 'is not certain when one takes only some queries',
      corefile: '. {\n}\na.test {\nview x\n}',
      asked: 'a.test',
      line: undefined,
    },
    {
      name: 'is not certain when two have the zone',
      corefile: '. {\n}\na.test {\nview x\n}\na.test {\n}',
      asked: 'a.test',
      line: undefined,
    },
  ]
  for (const { name, corefile, asked, line } of cases) {
    test(name, () => {
      assert.equal(lineFor(corefile, asked), line)
    })
  }
})
