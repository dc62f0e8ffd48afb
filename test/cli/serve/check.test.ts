import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { failed, runCli } from '../run-cli.ts'

describe('check', () => {
  const right: { name: string; corefile: string; blocks: string }[] = [
    {
      name: 'counts one block',
      corefile: '. {\n  whoami\n}\n',
      blocks: '1 server block',
    },
    {
      name: 'counts several blocks',
      corefile: 'a.example.org {\n  whoami\n}\nb.example.org {\n  whoami\n}\n',
      blocks: '2 server blocks',
    },
    {
      name: 'connects to no API server and opens no port',
      corefile: `. {
        kubernetes cluster.local {
          labels tier=gold
        }
        bind 192.0.2.1
        health 192.0.2.1:1
      }`,
      blocks: '1 server block',
    },
  ]
  for (const { name, corefile, blocks } of right) {
    test(name, async (t) => {
      const path = join(temporaryFolder(t, { Corefile: corefile }), 'Corefile')
      assert.deepEqual(await runCli(['check', path]), {
        status: 0,
        stdout: `${path}: ${blocks}, no problems\n`,
        stderr: '',
      })
    })
  }

  test('reports missing files and folders at their position in the Corefile', async (t) => {
    const corefile = `. {
  root zones
  hosts hosts.txt
  file db.example.org example.org
  file there.db there.test
  auto auto.test {
    directory missing
  }
  kubernetes cluster.local {
    kubeconfig kube.conf
  }
  forward . upstream.test
}
`
    const zone = '$TTL 60\n@ SOA a. b. 1 2 3 4 5\n@ NS a.\n'
    const folder = temporaryFolder(t, { Corefile: corefile, 'zones/there.db': zone })
    const { status, stderr } = await runCli(['check', join(folder, 'Corefile')])
    const missing = stderr.split('\n').filter((line) => line.includes('missing or unreadable'))
    assert.equal(status, 0)
    assert.deepEqual(
      missing.map((line) => line.replaceAll(`${folder}/`, '')),
      [
        'Corefile:3:9: warning: "zones/hosts.txt" is missing or unreadable',
        'Corefile:4:8: warning: "zones/db.example.org" is missing or unreadable',
        'Corefile:7:15: warning: "zones/missing" is missing or unreadable',
        'Corefile:10:16: warning: "kube.conf" is missing or unreadable',
      ],
    )
  })

  describe('reports where the target differs', () => {
    const OWN = 'its names are those that the exporter publishes'
    const cases: {
      target: string
      lines: readonly string[]
      found: readonly string[]
      isRefused?: boolean
    }[] = [
      { target: 'gateway', lines: ['kubernetes a.test { cluster prod }', 'file db'], found: [] },
      { target: 'worker', lines: ['kubernetes a.test { cluster prod }', 'log'], found: [] },
      {
        target: 'serve',
        lines: ['kubernetes a.test { cluster prod }'],
        found: ['2:1: warning: "cluster" has no effect in "kubedoh serve"'],
      },
      {
        target: 'serve',
        lines: ['kubernetes a.test { cluster prod east }'],
        found: ['2:1: "cluster" with several clusters works at gateways only'],
        isRefused: true,
      },
      {
        target: 'gateway',
        lines: ['health', 'kubernetes a.test { ttl 9 }', 'bind 192.0.2.1', 'prometheus :9153'],
        found: [
          '2:1: warning: "health" has no effect at a gateway: it serves /healthz itself',
          '3:1: warning: without "cluster ID", the gateway takes the only cluster in CLUSTERS',
          `4:1: warning: "ttl" has no effect at a gateway: ${OWN}`,
          '6:1: warning: "bind" has no effect at a gateway',
          '7:1: warning: "prometheus" at a gateway: it counts queries, but opens no port',
        ],
      },
      {
        target: 'gateway',
        lines: ['ready', 'etcd b.test { endpoint http://e }'],
        found: [
          '2:1: warning: "ready" has no effect at a gateway',
          '3:1: warning: without "cluster ID", the gateway takes the only cluster in CLUSTERS',
          '4:1: warning: "endpoint" has no effect at a gateway: its keys are those that the',
        ],
      },
      {
        target: 'worker',
        lines: ['trace', 'dnstap /run/tap.sock', 'file FOLDER/db a.test', 'file none b.test'],
        found: [
          '2:1: warning: "trace" has no effect in a Worker: nothing runs between its requests',
          '3:1: warning: "dnstap" has no effect in a Worker: no connection lasts',
          '4:6: warning: "FOLDER/db" is a file: a Worker has it only if its text is in the ',
          '5:6: warning: "FOLDER/none" is missing or unreadable',
        ],
      },
      {
        target: 'worker',
        lines: ['cache { persist root.cache }', 'forward . https://192.0.2.53'],
        found: ['3:9: "persist" needs files, which this runtime does not have'],
        isRefused: true,
      },
      {
        target: 'worker',
        lines: ['forward . 192.0.2.53', 'tsig', 'import more'],
        found: [
          '2:1: a Worker queries upstreams over https:// only',
          '3:1: "tsig" does not work in a Worker: ',
          '4:8: cannot import "FOLDER/more"',
        ],
        isRefused: true,
      },
    ]
    for (const { target, lines, found, isRefused = false } of cases) {
      test(`by ${target}: ${lines.join(', ')}`, async (t) => {
        const db = '@ 60 IN SOA a. b. 1 2 3 4 5\n'
        const folder = temporaryFolder(t, { db })
        const body = lines.join('\n').replaceAll(/{ (.*) }/g, '{\n$1\n}')
        const path = join(folder, 'Corefile')
        writeFileSync(path, `. {\n${body}\n}\n`.replaceAll('FOLDER', folder))
        const { status, stderr } = await runCli(['check', path, '--for', target])
        const lost = stderr.replaceAll(`${path}:`, '').replaceAll(folder, 'FOLDER').split('\n')
        assert.deepEqual(
          lost.slice(0, -1).map((line, i) => line.slice(0, found[i]?.length)),
          found,
        )
        assert.equal(status, isRefused ? 1 : 0)
      })
    }

    test('an unknown target', async () => {
      assert.deepEqual(
        await runCli(['check', 'Corefile', '--for', 'bind']),
        failed('kubedoh: --for is "bind", expected serve, gateway or worker'),
      )
    })
  })

  test('warns about likely mistakes and removed options', async (t) => {
    const corefile =
      '. {\n  proxy . 192.0.2.53\n  hosts {\n    192.0.2.1 a.test\n  }\n}\nb.test {\n  log\n}\n'
    const path = join(temporaryFolder(t, { Corefile: corefile }), 'Corefile')
    const { status, stdout, stderr } = await runCli(['check', path])
    assert.equal(status, 0)
    assert.equal(stdout, `${path}: 2 server blocks, 4 warnings\n`)
    assert.deepEqual(
      stderr.split('\n').map((line) => line.replace(`${path}:`, '').slice(0, 60)),
      [
        '2:3: warning: "proxy" was removed in CoreDNS 1.5.0; read as ',
        '2:3: warning: "forward" gets no queries: "hosts" of line 3 c',
        '3:3: warning: "hosts" acts before "forward" of line 2, whate',
        '7:1: warning: nothing in this server block answers: every qu',
        '',
      ],
    )
  })

  test('prints warnings together with errors', async (t) => {
    const path = join(temporaryFolder(t, { Corefile: '. {\n  proxy . x:0 1.2\n}\n' }), 'Corefile')
    const none = 'is neither [tls://]ADDRESS[:PORT], https://…, a hostname, nor a file'
    assert.deepEqual(
      await runCli(['check', path]),
      failed(
        `${path}:2:3: warning: "proxy" was removed in CoreDNS 1.5.0; read as "forward"`,
        `${path}:2:11: "x:0" ${none}`,
        `${path}:2:15: "1.2" ${none}`,
      ),
    )
  })

  test('warns about options that a plugin ignores', async (t) => {
    const path = join(temporaryFolder(t, { Corefile: '. {\n  debug\n  whoami\n}\n' }), 'Corefile')
    assert.deepEqual(await runCli(['check', path]), {
      status: 0,
      stdout: `${path}: 1 server block, 1 warning\n`,
      stderr:
        `${path}:2:3: warning: "debug" only enables the debug level of "errors": failures are ` +
        'always logged in full\n',
    })
  })

  const wrong: { name: string; corefile: string; problems: readonly string[] }[] = [
    {
      name: 'a block that does not end',
      corefile: '. {\n  whoami\n',
      problems: ['Corefile:1:3: this "{" is not closed'],
    },
    {
      name: 'all that is wrong in several blocks, a line each',
      corefile: '. {\n  bufsize 1\n}\nexample.org {\n  whoami a\n}\n',
      problems: [
        'Corefile:2:11: "1" is not a number from 512 to 4096',
        'Corefile:5:10: "whoami" takes no arguments, got "a"',
      ],
    },
    {
      name: 'a label selector',
      corefile: '. {\n  kubernetes cluster.local {\n    labels (\n  }\n}\n',
      problems: ['Corefile:2:3: "labels (" is not a label selector such as "tier=gold,!old"'],
    },
    {
      name: 'what an imported file says',
      corefile: '. {\n  import more\n}\n',
      problems: ['more:1:9: "whoami" takes no arguments, got "nobody"'],
    },
  ]
  for (const { name, corefile, problems } of wrong) {
    test(`names file, line and column of ${name}`, async (t) => {
      const folder = temporaryFolder(t, { Corefile: corefile, more: 'whoami  nobody\n' })
      assert.deepEqual(
        await runCli(['check', join(folder, 'Corefile')]),
        failed(...problems.map((line) => join(folder, line))),
      )
    })
  }

  test('reports a missing Corefile', async () => {
    assert.deepEqual(
      await runCli(['check', '/none/Corefile']),
      failed('kubedoh: Cannot read /none/Corefile: no such file'),
    )
  })

  test('resolves paths relative to the Corefile, or to --files', async (t) => {
    const folder = temporaryFolder(t, {
      'conf/Corefile': '. {\n  forward . ./servers\n}\n',
      'files/servers': 'nameserver 192.0.2.53\n',
    })
    const path = join(folder, 'conf/Corefile')
    const missing = '"./servers" is missing or unreadable: queries that need it fail'
    assert.deepEqual(await runCli(['check', path]), {
      status: 0,
      stdout: `${path}: 1 server block, 1 warning\n`,
      stderr: `${path}:2:13: warning: ${missing} until it lists one\n`,
    })
    const found = await runCli(['check', path, '--files', join(folder, 'files')])
    assert.deepEqual([found.status, found.stderr], [0, ''])
  })
})
