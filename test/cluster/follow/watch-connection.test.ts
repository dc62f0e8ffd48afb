import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, type TestContext, test } from 'vitest'
import {
  type ApiConnection,
  ApiError,
  ConnectionError,
} from '../../../src/cluster/api/object-api.ts'
import { openApi } from '../../../src/cluster/follow/watch.ts'
import { AUTHORITY } from '../../certificates.ts'
import { freePort } from '../../free-port.ts'
import { portOf } from '../../server/clients.ts'
import { EMPTY_LIST, NEVER, sendJson, startHttpApi, watchFrom } from './http-api.ts'
import { CERTIFICATE, PRIVATE_KEY } from './loopback-certificate.ts'
import { SERVICES } from './mirror.ts'
import { temporaryFolder } from './temporary-folder.ts'

const SERVER_KEYS = { cert: CERTIFICATE, key: PRIVATE_KEY, ca: CERTIFICATE }
const TLS_FILES = { 'ca.pem': CERTIFICATE, 'cert.pem': CERTIFICATE, 'key.pem': PRIVATE_KEY }

/** A kubeconfig whose contexts are named for the servers they lead to. */
function kubeconfig(servers: Readonly<Record<string, string>>, current: string): string {
  const names = Object.keys(servers)
  return JSON.stringify({
    'current-context': current,
    clusters: names.map((name) => ({ name, cluster: { server: servers[name] } })),
    users: names.map((name) => ({ name, user: { token: `token-of-${name}` } })),
    contexts: names.map((name) => ({ name, context: { cluster: name, user: name } })),
  })
}

/** Sets variables of the environment, or unsets them, until the test ends. */
function setEnvironment(
  t: TestContext,
  values: Readonly<Record<string, string | undefined>>,
): void {
  const before = Object.keys(values).map((name): [string, string | undefined] => [
    name,
    process.env[name],
  ])
  const put = ([name, value]: [string, string | undefined]): void => {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
  t.onTestFinished(() => before.forEach(put))
  Object.entries(values).forEach(put)
}

describe('openApi', () => {
  const server = { here: 'http://127.0.0.1:1' }
  const cases: {
    name: string
    text: string
    context?: string
    message: RegExp
  }[] = [
    {
      name: 'a kubeconfig that is not YAML, without a word of its secrets',
      text: 'users:\n  - { token: s3cret\nx: [',
      message: /^Cannot read kubeconfig FILE: .*$/,
    },
    {
      name: 'a kubeconfig whose present context is missing',
      text: kubeconfig(server, 'there'),
      message: /^kubeconfig FILE names no cluster$/,
    },
    {
      name: 'a missing context',
      text: kubeconfig(server, 'here'),
      context: 'there',
      message: /^kubeconfig FILE has no context "there"$/,
    },
    {
      name: 'a server that is not a URL',
      text: kubeconfig({ here: 'over there' }, 'here'),
      message: /^kubeconfig FILE names a server "over there", not a URL$/,
    },
  ]
  for (const { name, text, context, message } of cases) {
    test(`refuses ${name}`, (t) => {
      const path = join(temporaryFolder(t, { config: text }), 'config')
      assert.throws(
        () => openApi({ kind: 'kubeconfig', path, context }),
        (error) => {
          assert.ok(error instanceof ConnectionError)
          assert.match(error.message.replace(path, 'FILE'), message)
          assert.doesNotMatch(error.message, /s3cret/)
          return true
        },
      )
    })
  }

  test('refuses a missing kubeconfig', (t) => {
    const path = join(temporaryFolder(t), 'config')
    assert.throws(() => openApi({ kind: 'kubeconfig', path, context: undefined }), {
      name: 'ConnectionError',
      message: `Cannot read kubeconfig ${path}: no such file or directory`,
    })
  })

  test('refuses an endpoint that is no URL', () => {
    assert.throws(() => openApi({ kind: 'endpoint', url: 'api', tls: undefined }), {
      name: 'ConnectionError',
      message: 'endpoint api names a server "api", not a URL',
    })
  })

  test('takes the current context, or the named one, with its token', async (t) => {
    const asked: string[] = []
    const answer =
      (who: string) =>
      ({ headers }: IncomingMessage, response: ServerResponse): void => {
        asked.push(`${who} ${headers.authorization}`)
        sendJson(response, EMPTY_LIST)
      }
    const servers = {
      one: await startHttpApi(t, answer('one')),
      two: await startHttpApi(t, answer('two')),
    }
    // The library refuses http:// unless an option turns the check of certificates off.
    const text = kubeconfig(servers, 'one').replaceAll(
      '"cluster":{',
      '"cluster":{"insecure-skip-tls-verify":true,',
    )
    const path = join(temporaryFolder(t, { config: text }), 'config')
    for (const context of [undefined, 'two']) {
      await openApi({ kind: 'kubeconfig', path, context }).list(SERVICES, '', NEVER)
    }
    assert.deepEqual(asked, ['one Bearer token-of-one', 'two Bearer token-of-two'])
  })

  test('reads a rotated token after a 401', async (t) => {
    const folder = temporaryFolder(t, { token: 'old' })
    let valid = 'new'
    const url = await startHttpApi(t, ({ headers }, response) => {
      if (headers.authorization === `Bearer ${valid}`) sendJson(response, EMPTY_LIST)
      else response.writeHead(401).end()
    })
    const provider = { name: 'tokenFile', config: { tokenFile: join(folder, 'token') } }
    const text = kubeconfig({ here: url }, 'here')
      .replace('"cluster":{', '"cluster":{"insecure-skip-tls-verify":true,')
      .replace('"token":"token-of-here"', `"auth-provider":${JSON.stringify(provider)}`)
    const path = join(temporaryFolder(t, { config: text }), 'config')
    const api = openApi({ kind: 'kubeconfig', path, context: undefined })
    const refused = { name: 'ApiError', status: 401 }
    await assert.rejects(api.list(SERVICES, '', NEVER), refused)
    writeFileSync(join(folder, 'token'), 'new')
    await api.list(SERVICES, '', NEVER)
    valid = 'newer'
    // A kubeconfig that is broken for a while leaves the previous one in use.
    writeFileSync(path, '{')
    await assert.rejects(api.list(SERVICES, '', NEVER), refused)
    writeFileSync(path, text)
    writeFileSync(join(folder, 'token'), 'newer')
    await assert.rejects(api.list(SERVICES, '', NEVER), refused)
    await api.list(SERVICES, '', NEVER)
  })

  test('keeps its credentials if the kubeconfig names another server after a 401', async (t) => {
    const sent: (string | undefined)[] = []
    const url = await startHttpApi(t, ({ headers }, response) => {
      sent.push(headers.authorization)
      response.writeHead(401).end()
    })
    const text = (current: string): string =>
      kubeconfig({ here: url, prod: 'http://127.0.0.1:1' }, current).replaceAll(
        '"cluster":{',
        '"cluster":{"insecure-skip-tls-verify":true,',
      )
    const path = join(temporaryFolder(t, { config: text('here') }), 'config')
    const api = openApi({ kind: 'kubeconfig', path, context: undefined })
    const refused = { name: 'ApiError', status: 401 }
    writeFileSync(path, text('prod'))
    await assert.rejects(api.list(SERVICES, '', NEVER), refused)
    await assert.rejects(api.list(SERVICES, '', NEVER), refused)
    assert.deepEqual(sent, ['Bearer token-of-here', 'Bearer token-of-here'])
  })

  test('fails without any cluster, rather than try this machine', (t) => {
    const HOME = temporaryFolder(t)
    setEnvironment(t, { HOME, KUBECONFIG: undefined, KUBERNETES_SERVICE_HOST: undefined })
    assert.throws(() => openApi({ kind: 'default' }), {
      name: 'ConnectionError',
      message: /^Cannot find a cluster: .* pass --kubeconfig FILE, .* export --objects FILE$/,
    })
  })

  test('takes the kubeconfig that KUBECONFIG names', async (t) => {
    const config = kubeconfig({ here: 'over there' }, 'here')
    const KUBECONFIG = join(temporaryFolder(t, { config }), 'config')
    setEnvironment(t, { KUBECONFIG, KUBERNETES_SERVICE_HOST: undefined })
    assert.throws(() => openApi({ kind: 'default' }), {
      message: 'the default kubeconfig names a server "over there", not a URL',
    })
  })

  test('takes the service account in a pod, before any kubeconfig', async (t) => {
    const config = kubeconfig({ here: 'over there' }, 'here')
    const KUBECONFIG = join(temporaryFolder(t, { config }), 'config')
    const KUBERNETES_SERVICE_PORT = String(await freePort())
    setEnvironment(t, { KUBECONFIG, KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT })
    const api = openApi({ kind: 'default' })
    // Outside of a pod there is neither the account's token nor a server.
    await assert.rejects(api.list(SERVICES, '', NEVER), ApiError)
  })

  test('authenticates both sides by the files of an endpoint', async (t) => {
    const folder = temporaryFolder(t, TLS_FILES)
    const file = (name: string): string => join(folder, name)
    const subjects: unknown[] = []
    const url = await startHttpApi(
      t,
      ({ socket }, response) => {
        const peer = 'getPeerCertificate' in socket ? socket.getPeerCertificate : undefined
        const certificate: unknown = typeof peer === 'function' ? peer.call(socket) : undefined
        subjects.push(JSON.stringify(certificate).includes('"CN":"kubedoh-test"'))
        sendJson(response, EMPTY_LIST)
      },
      SERVER_KEYS,
    )
    const tls = { cert: file('cert.pem'), key: file('key.pem'), ca: file('ca.pem') }
    const connection: ApiConnection = { kind: 'endpoint', url: `${url}/`, tls }
    await openApi(connection).list(SERVICES, '', NEVER)
    assert.deepEqual(subjects, [true])
  })

  test('reads a changed authority after a failure', async (t) => {
    const folder = temporaryFolder(t, { 'ca.pem': AUTHORITY })
    const url = await startHttpApi(t, (_, response) => sendJson(response, EMPTY_LIST), SERVER_KEYS)
    const cluster = { server: url, 'certificate-authority': 'ca.pem' }
    const config = JSON.stringify({
      'current-context': 'here',
      clusters: [{ name: 'here', cluster }],
      users: [{ name: 'here', user: { token: 'a' } }],
      contexts: [{ name: 'here', context: { cluster: 'here', user: 'here' } }],
    })
    const path = join(folder, 'config')
    writeFileSync(path, config)
    const api = openApi({ kind: 'kubeconfig', path, context: undefined })
    await assert.rejects(api.list(SERVICES, '', NEVER), { message: /^self-signed certificate/ })
    writeFileSync(join(folder, 'ca.pem'), CERTIFICATE)
    await api.list(SERVICES, '', NEVER)
  })

  test('sends requests through the proxy of a kubeconfig', async (t) => {
    const url = await startHttpApi(t, (_, response) => sendJson(response, EMPTY_LIST), SERVER_KEYS)
    const tunnels: (string | undefined)[] = []
    const proxy = createServer().on('connect', ({ url: target }, socket, head) => {
      tunnels.push(target)
      const upstream = connect(Number(new URL(url).port), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
        upstream.write(head)
        upstream.pipe(socket).pipe(upstream)
      })
    })
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    t.onTestFinished(() => {
      proxy.closeAllConnections()
      proxy.close()
    })
    const through = JSON.stringify({
      'proxy-url': `http://127.0.0.1:${portOf(proxy.address())}`,
      'certificate-authority-data': Buffer.from(CERTIFICATE).toString('base64'),
    }).slice(1, -1)
    const text = kubeconfig({ here: url }, 'here').replace('"cluster":{', `"cluster":{${through},`)
    const path = join(temporaryFolder(t, { config: text }), 'config')
    const api = openApi({ kind: 'kubeconfig', path, context: undefined })
    await api.list(SERVICES, '', NEVER)
    assert.deepEqual(tunnels, [new URL(url).host])
  })

  test('ends when it should while a proxy does not answer', async (t) => {
    const proxy = createServer().on('connect', () => undefined)
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    t.onTestFinished(() => {
      proxy.closeAllConnections()
      proxy.close()
    })
    const through = `"proxy-url":"http://127.0.0.1:${portOf(proxy.address())}"`
    const text = kubeconfig({ here: 'https://192.0.2.1' }, 'here').replace(
      '"cluster":{',
      `"cluster":{${through},`,
    )
    const path = join(temporaryFolder(t, { config: text }), 'config')
    const api = openApi({ kind: 'kubeconfig', path, context: undefined })
    const ended = new AbortController()
    const listed = api.list(SERVICES, '', ended.signal)
    await once(proxy, 'connect')
    ended.abort()
    // Long before the time-out for a proxy.
    await assert.rejects(Promise.race([listed, sleep(10_000)]), { name: 'ApiError' })
  })

  test('runs a plugin for credentials once while the server is away', async (t) => {
    const folder = temporaryFolder(t, {
      plugin: `#!/bin/sh
echo run >>"$(dirname "$0")/runs"
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"a"}}'
`,
    })
    chmodSync(join(folder, 'plugin'), 0o755)
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: join(folder, 'plugin'),
      interactiveMode: 'Never',
    }
    const text = kubeconfig({ here: `https://127.0.0.1:${await freePort()}` }, 'here').replace(
      '"token":"token-of-here"',
      `"exec":${JSON.stringify(exec)}`,
    )
    writeFileSync(join(folder, 'config'), text)
    const api = openApi({ kind: 'kubeconfig', path: join(folder, 'config'), context: undefined })
    const refused = { name: 'ApiError', message: /ECONNREFUSED|connection refused/ }
    for (let i = 0; i < 3; i++) await assert.rejects(api.list(SERVICES, '', NEVER), refused)
    assert.equal(readFileSync(join(folder, 'runs'), 'utf8'), 'run\n')
  })

  test('sends its credentials nowhere else', async (t) => {
    const other = await startHttpApi(t, () => assert.fail('followed a redirect'))
    const url = await startHttpApi(t, (_, response) => {
      response.writeHead(302, { location: other }).end()
    })
    const api = openApi({ kind: 'endpoint', url, tls: undefined })
    await assert.rejects(api.list(SERVICES, '', NEVER), { name: 'ApiError', status: 302 })
    await assert.rejects(watchFrom(api).done, { name: 'ApiError', status: 302 })
  })

  test('does not trust a certificate of an unknown authority', async (t) => {
    const url = await startHttpApi(t, (_, response) => sendJson(response, EMPTY_LIST), SERVER_KEYS)
    const api = openApi({ kind: 'endpoint', url, tls: undefined })
    const refusal = { name: 'ApiError', status: undefined, message: /^self-signed certificate/ }
    await assert.rejects(api.list(SERVICES, '', NEVER), refusal)
    await assert.rejects(watchFrom(api).done, refusal)
  })

  test('names the unreadable file of an endpoint', async (t) => {
    const path = join(temporaryFolder(t), 'none.pem')
    const tls = { cert: path, key: path, ca: path }
    const api = openApi({ kind: 'endpoint', url: 'https://127.0.0.1:1', tls })
    const refusal = { name: 'ApiError', message: /ENOENT.*none\.pem/ }
    await assert.rejects(api.list(SERVICES, '', NEVER), refusal)
    await assert.rejects(watchFrom(api).done, refusal)
  })
})
