import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { describe, test, vi } from 'vitest'
import { main } from '../../../src/cli/main.ts'
import { serve, untilReady } from '../../../src/cli/serve/serve.ts'
import { CLIENT, SERVER } from '../../certificates.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { freePort } from '../../free-port.ts'
import { isServed, within } from '../../server/clients.ts'
import { ClusterApi } from '../cluster-api.ts'
import { ENVIRONMENT, failed, runCli, Screen } from '../run-cli.ts'
import { SHOP_COREFILE, serveOptions, shopFolder, startServer } from '../shop.ts'

const WEB = 'web.shop.svc.cluster.local'

/** The answer's records, or nothing. */
async function answersOf(server: string, name = WEB, type = 'A'): Promise<string[]> {
  const { stdout } = await runCli(['query', name, type, '--server', server])
  return stdout.split('\n').filter((line) => /^[^;]/.test(line))
}

async function certificateAt(port: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { fingerprint256 } = socket.getPeerCertificate()
  socket.destroy()
  return fingerprint256
}

describe('serve', () => {
  test('answers on the ports that it reports until it is stopped', async (t) => {
    const { port, stop } = await startServer(t)
    const server = `tcp://127.0.0.1:${port}`
    assert.deepEqual(await answersOf(server), [`${WEB}. 30 IN A 192.0.2.10`])
    await stop()
    const again = await startServer(t, { dnsPort: port })
    assert.deepEqual(again.ports, [port])
  })

  test('reports a port for each server block', async (t) => {
    const other = await freePort()
    const Corefile = `${SHOP_COREFILE}.:${other} {\n  bind 127.0.0.1\n  whoami\n}\n`
    const { ports } = await startServer(t, {}, { Corefile })
    assert.equal(ports.length, 2)
    assert.equal(ports[1], other)
    assert.ok(await isServed(other))
  })

  for (const scheme of ['tls', 'https']) {
    test(`uses changed files of a ${scheme} block with the Corefile in use`, async (t) => {
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
      const port = await freePort()
      const Corefile = `${scheme}://.:${port} {\n  bind 127.0.0.1\n  tls cert key\n  whoami\n}\n`
      const files = { Corefile, cert: SERVER.cert, key: SERVER.key }
      const { folder, screen } = await startServer(t, {}, files)
      const first = await certificateAt(port)
      const change = async (file: string, text: string, line: RegExp): Promise<void> => {
        writeFileSync(join(folder, file), text)
        vi.advanceTimersByTime(10_000)
        await screen.shows('stderr', line)
      }
      const refused = /the changed certificate is not used; the previous one stays/
      await change('cert', CLIENT.cert, refused)
      assert.equal(await certificateAt(port), first)
      writeFileSync(join(folder, 'Corefile'), 'an edit that waits for a signal')
      await change('key', CLIENT.key, /reloaded the changed certificate/)
      assert.equal(await certificateAt(port), new X509Certificate(CLIENT.cert).fingerprint256)
    })
  }

  test('resolves paths relative to the Corefile, or to --files', async (t) => {
    const Corefile = '. {\n  bind 127.0.0.1\n  hosts names\n}\n'
    const files = temporaryFolder(t, { names: '192.0.2.2 a.example.org\n' })
    const texts = { Corefile, names: '192.0.2.1 a.example.org\n' }
    for (const [options, address] of [
      [{}, '192.0.2.1'],
      [{ files }, '192.0.2.2'],
    ] as const) {
      const { port } = await startServer(t, options, texts)
      const answers = await answersOf(`tcp://127.0.0.1:${port}`, 'a.example.org')
      assert.deepEqual(answers, [`a.example.org. 3600 IN A ${address}`])
    }
  })

  test('uses LOCAL_IPS in NS records', async (t) => {
    const { port } = await startServer(t, { localAddresses: '192.0.2.1, 192.0.2.2' })
    const answers = await answersOf(`tcp://127.0.0.1:${port}`, 'cluster.local', 'NS')
    assert.deepEqual(answers.sort(), [
      'cluster.local. 30 IN NS ns.dns.cluster.local.',
      'ns.dns.cluster.local. 30 IN A 192.0.2.1',
      'ns.dns.cluster.local. 30 IN A 192.0.2.2',
    ])
  })

  test('answers after 5 seconds without a cluster, and logs that', async (t) => {
    const endpoint = `endpoint http://127.0.0.1:${await freePort()}`
    const Corefile = `. {
      bind 127.0.0.1
      kubernetes cluster.local {
        ${endpoint}
      }
    }`
    // Before any test with a cluster: a client that began by the real clock could not end its
    // timers by this one.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const starting = startServer(t, { objects: [] }, { Corefile })
    let isStarted = false
    void starting.finally(() => {
      isStarted = true
    })
    while (!isStarted) {
      await new Promise(setImmediate)
      vi.advanceTimersByTime(1000)
    }
    const { port, screen } = await starting
    vi.useRealTimers()
    assert.match(screen.text.stderr, /"level":"error","message":"cannot follow .*ECONNREFUSED/)
    assert.match(
      screen.text.stderr,
      /"level":"warning","message":"a cluster is not fully read yet; until then, /,
    )
    const { stdout } = await runCli(['query', WEB, '--server', `tcp://127.0.0.1:${port}`])
    assert.match(stdout, /^; \S*SERVFAIL/)
  })

  test('prints the ready line when /ready is 200', async (t) => {
    const Corefile = `. {
      bind 127.0.0.1
      ready 127.0.0.1:${await freePort()}
      kubernetes cluster.local {
        endpoint http://127.0.0.1:${await freePort()}
      }
    }`
    const conf = join(shopFolder(t, { Corefile }), 'Corefile')
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const screen = new Screen()
    let isEnded = false
    const ended = main(['serve', '--conf', conf, '--dns.port', '0'], screen, ENVIRONMENT).finally(
      () => {
        isEnded = true
      },
    )
    const pass = async (isOver: () => boolean): Promise<void> => {
      while (!isOver()) {
        await new Promise(setImmediate)
        vi.advanceTimersByTime(1000)
      }
    }
    await pass(() => process.listenerCount('SIGTERM') > 0)
    let turns = 0
    await pass(() => turns++ > 10)
    process.emit('SIGTERM', 'SIGTERM')
    await pass(() => isEnded)
    vi.useRealTimers()
    assert.equal(await ended, 0)
    assert.equal(screen.text.stdout, '')
    assert.match(screen.text.stderr, /a cluster is not fully read yet/)
  })

  test('follows a cluster', async (t) => {
    const api = await ClusterApi.start(t)
    const { port } = await startServer(t, { objects: [] }, { Corefile: api.corefile })
    const server = `tcp://127.0.0.1:${port}`
    assert.deepEqual(await answersOf(server), [`${WEB}. 5 IN A 192.0.2.10`])
    const db = '{ metadata: { namespace: shop, name: db }, spec: { clusterIP: 192.0.2.20 } }'
    api.tell('services', ['ADDED', db])
    const soon = async (): Promise<string[]> => {
      const answers = await answersOf(server, 'db.shop.svc.cluster.local')
      return answers.some((line) => line.includes(' A ')) ? answers : soon()
    }
    assert.deepEqual(await within(soon(), 'the new Service'), [
      'db.shop.svc.cluster.local. 5 IN A 192.0.2.20',
    ])
  })
})

test('untilReady waits for the plugins, or for an abort', async () => {
  const waits = [['kubernetes'], []]
  const ended = new AbortController()
  assert.equal(await untilReady({ notReady: () => waits.shift() ?? [] }, ended.signal), true)
  ended.abort()
  assert.equal(await untilReady({ notReady: () => ['kubernetes'] }, ended.signal), false)
})

describe('a server with features', () => {
  test('serves them, and fails /ready during lameduck', async (t) => {
    const [health, ready, metrics] = [await freePort(), await freePort(), await freePort()]
    const Corefile = `. {
      bind 127.0.0.1
      whoami
      health 127.0.0.1:${health} {
        lameduck 7s
      }
      ready 127.0.0.1:${ready}
      prometheus 127.0.0.1:${metrics}
    }`
    const { port, stop } = await startServer(t, {}, { Corefile })
    const get = async (at: number, path: string): Promise<string> => {
      const response = await fetch(`http://127.0.0.1:${at}${path}`)
      return `${response.status} ${await response.text()}`
    }
    assert.equal(await get(health, '/health'), '200 OK')
    assert.equal(await get(ready, '/ready'), '200 OK')
    assert.match(await get(metrics, '/metrics'), /^200 .*process_start_time_seconds/s)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const stopped = stop()
    vi.advanceTimersByTime(6999)
    assert.equal(await get(ready, '/ready'), '503 Shutting down')
    assert.ok(await isServed(port))
    vi.advanceTimersByTime(1)
    await within(stopped, 'the end')
    await assert.rejects(get(ready, '/ready'), TypeError)
  })

  test('logs warnings about removed and ignored options', async (t) => {
    const Corefile = '. {\n  bind 127.0.0.1\n  debug\n  proxy . 192.0.2.53\n}\n'
    const { screen } = await startServer(t, {}, { Corefile })
    assert.match(
      screen.text.stderr,
      /"warning","message":"[^"]*Corefile:4:3: \\"proxy\\" was removed/,
    )
    assert.match(
      screen.text.stderr,
      /"warning","message":"[^"]*Corefile:3:3: \\"debug\\" only enables/,
    )
  })

  test('reloads a changed Corefile, and keeps the previous one if it is invalid', async (t) => {
    const first = '. {\n  bind 127.0.0.1\n  reload 2s 0s\n  hosts {\n    192.0.2.1 a\n  }\n}\n'
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { port, screen, folder } = await startServer(t, {}, { Corefile: first })
    const reload = async (text: string, pattern: RegExp): Promise<string[]> => {
      writeFileSync(join(folder, 'Corefile'), text)
      vi.advanceTimersByTime(2000)
      await screen.shows('stderr', pattern)
      // The next look at the file is planned when this one is over.
      await new Promise(setImmediate)
      return answersOf(`tcp://127.0.0.1:${port}`, 'a')
    }
    const broken = first.replace('192.0.2.1', '192.0.2.2').replace('reload 2s', 'reload 1s')
    assert.deepEqual(
      await reload(
        broken,
        /"cannot reload the Corefile; the previous one stays in use","reason":"[^"]*Corefile:3:10: /,
      ),
      ['a. 3600 IN A 192.0.2.1'],
    )
    assert.deepEqual(
      await reload(first.replace('192.0.2.1', '192.0.2.3'), /"reloaded the changed Corefile"/),
      ['a. 3600 IN A 192.0.2.3'],
    )
    // An unchanged file logs nothing.
    vi.advanceTimersByTime(2000)
    await answersOf(`tcp://127.0.0.1:${port}`, 'a')
    const twice = /cannot reload.*cannot reload/s
    assert.deepEqual(await reload('. {', twice), ['a. 3600 IN A 192.0.2.3'])
    assert.equal(screen.text.stderr.match(/reloaded the/g)?.length, 1)
  })
})

describe('a server with DNS over HTTP', () => {
  test('answers over it', async (t) => {
    const dohListen = `127.0.0.1:${await freePort()}`
    await startServer(t, { dohListen })
    assert.deepEqual(await answersOf(`http://${dohListen}`), [`${WEB}. 30 IN A 192.0.2.10`])
  })

  test('rejects other addresses than loopback without KUBEDOH_INSECURE, and closes its ports', async (t) => {
    const dnsPort = await freePort()
    const dohListen = `0.0.0.0:${await freePort()}`
    await assert.rejects(serve(serveOptions(shopFolder(t), { dnsPort, dohListen }), new Screen()), {
      name: 'CommandError',
      message: /^--doh\.listen 0\.0\.0\.0:\d+ would send responses unencrypted; /,
    })
    const { port } = await startServer(t, { dnsPort, dohListen, insecure: true })
    assert.equal(port, dnsPort)
    assert.deepEqual(await answersOf(`http://${dohListen.replace('0.0.0.0', '127.0.0.1')}`), [
      `${WEB}. 30 IN A 192.0.2.10`,
    ])
  })
})

describe('the command serve', () => {
  test('prints its ports, and stops on a signal', async (t) => {
    const folder = shopFolder(t)
    const doh = `127.0.0.1:${await freePort()}`
    const screen = new Screen()
    const conf = ['--conf', join(folder, 'Corefile'), '--objects', join(folder, 'shop.yaml')]
    const args = ['serve', ...conf, '--dns.port', '0', '--doh.listen', doh]
    const ended = main(args, screen, ENVIRONMENT)
    const [line, port] = await screen.shows('stdout', /^ready: DNS on port (\d+).*\n/)
    assert.equal(line, `ready: DNS on port ${port}, DNS over HTTP on http://${doh}/dns-query\n`)
    assert.ok(await isServed(Number(port)))
    process.emit('SIGTERM', 'SIGTERM')
    assert.equal(await within(ended, 'the end'), 0)
    assert.equal(screen.text.stderr, '')
    const again = await startServer(t, { dnsPort: Number(port), dohListen: doh })
    assert.equal(again.port, Number(port))
  })

  const refusals: {
    name: string
    corefile?: string
    flags?: readonly string[]
    environment?: Readonly<Record<string, string>>
    line: string
  }[] = [
    {
      name: 'a Corefile that is wrong',
      corefile: '. {\n  bufsize 1\n}\n',
      line: 'FOLDER/Corefile:2:11: "1" is not a number from 512 to 4096',
    },
    {
      name: 'several clusters',
      corefile: '. {\n  kubernetes cluster.local {\n    cluster prod east\n  }\n}\n',
      line:
        'FOLDER/Corefile:2:3: "cluster" with several clusters works at gateways only: this ' +
        'server watches one',
    },
    {
      name: 'missing objects',
      flags: ['--objects', 'FOLDER/none'],
      line: 'kubedoh: FOLDER/none: no such file or folder',
    },
    {
      name: 'a missing kubeconfig',
      flags: ['--objects', '', '--kubeconfig', 'FOLDER/none'],
      line: 'FOLDER/Corefile:3:3: Cannot read kubeconfig FOLDER/none: no such file or directory',
    },
    {
      name: 'an address of another machine',
      corefile: '. {\n  bind nowhere0\n  whoami\n}\n',
      line: 'FOLDER/Corefile:2:8: "nowhere0" is neither an address nor an interface of this machine',
    },
    {
      name: 'a transport that is not served',
      corefile: 'quic://. {\n  bind 127.0.0.1\n  whoami\n}\n',
      line:
        'FOLDER/Corefile:1:1: "quic://.": DNS over QUIC is not supported; ' +
        'put dnsdist in front of "tls://" (docs/fronts.md)',
    },
    {
      name: 'an invalid port',
      flags: ['--dns.port', '65536'],
      line: 'kubedoh: --dns.port is "65536", expected 0 to 65535',
    },
    {
      name: 'a port that is not a number',
      flags: ['--dns.port', 'dns'],
      line: 'kubedoh: --dns.port is "dns", expected 0 to 65535',
    },
    {
      name: 'no worker at all',
      flags: ['--workers', '0'],
      line: 'kubedoh: --workers is "0", expected 1 to 256',
    },
    {
      name: 'a time to linger without a unit',
      environment: { KUBEDOH_LINGER: '60' },
      line: 'kubedoh: KUBEDOH_LINGER is "60", expected 0s to 1h, such as 60s',
    },
    {
      name: 'workers that would each have a port of their own',
      flags: ['--workers', '2'],
      line: 'kubedoh: --workers above 1 needs a fixed port; set --dns.port to 1 to 65535',
    },
  ]
  for (const { name, corefile = SHOP_COREFILE, flags = [], environment, line } of refusals) {
    test(`refuses ${name}, in one line`, async (t) => {
      const folder = shopFolder(t, { Corefile: corefile })
      const words = flags.map((word) => word.replace('FOLDER', folder))
      const args = ['serve', '--conf', join(folder, 'Corefile'), '--dns.port', '0', ...words]
      const { stderr, ...ran } = await within(runCli(args, environment), 'the end')
      assert.deepEqual({ ...ran, stderr: stderr.replaceAll(folder, 'FOLDER') }, failed(line))
    })
  }

  test('reports ports in use in one line', async (t) => {
    const dohListen = `127.0.0.1:${await freePort()}`
    const { port, folder } = await startServer(t, { dohListen })
    const objects = ['--objects', join(folder, 'shop.yaml')]
    const args = ['serve', '--conf', join(folder, 'Corefile'), ...objects]
    assert.deepEqual(
      await runCli([...args, '--dns.port', String(port)]),
      failed(
        `kubedoh: Cannot listen on TCP 127.0.0.1:${port}: address in use; stop the other process or choose another port`,
      ),
    )
    assert.deepEqual(
      await runCli([...args, '--dns.port', '0', '--doh.listen', dohListen]),
      failed(
        `kubedoh: Cannot listen on --doh.listen ${dohListen}: address in use; stop the other process or choose another port`,
      ),
    )
  })
})
