/**
 * `kubedoh router nginx` with a real nginx, for a real API server: routing, prefixes, reloads under
 * load, what is refused. Run by `npm run test:cluster`.
 * @module
 */
import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { findMissing } from '../clients/programs.ts'
import {
  HOSTILE_HOSTS,
  HOSTILE_PATHS,
  ROUTE_DEFINITION,
  routeTo,
} from '../cluster/host-route-cases.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { type ApiObject, ApiServer } from './api-server.ts'
import { prepareBinaries } from './binaries.ts'
import { namespace, RIGHTS } from './objects.ts'
import { type Running, start } from './processes.ts'
import {
  becomes,
  conditionsOf,
  createOnce,
  EchoService,
  fetchFrom,
  hostRoute,
  LOOPBACK_SERVICES,
  ROUTER_RULES,
} from './routing.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const binaries = prepareBinaries()
const skip = typeof binaries === 'string' ? binaries : findMissing('nginx')
const COREFILE = `a.test {
    k8s_gateway {
        resources HostRoute
        recordZones shop a.test
        recordZones blog open.a.test
        router 127.0.0.1
    }
}
`
const LOAD_MS = 4000
const HOST = 'www.a.test'

describeUnless(skip, 'kubedoh router nginx', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-router-'))
  const place = join(folder, 'nginx')
  // An nginx that refuses every configuration while a file exists.
  const program = join(folder, 'nginx.sh')
  const refusing = join(folder, 'refusing')
  const services: EchoService[] = []
  let api: ApiServer
  let router: Running
  let port = 0
  let echoPort = 0

  const get = (host: string, path: string): Promise<string> => fetchFrom(port, host, path)

  beforeAll(async () => {
    if (typeof binaries === 'string') return
    api = await ApiServer.start(binaries, { serviceAddresses: LOOPBACK_SERVICES })
    writeFileSync(join(folder, 'Corefile'), COREFILE)
    const refusal = `[ -e ${refusing} ] && [ "$1" = -t ] && echo "nginx: [emerg] invalid value" >&2 && exit 1`
    writeFileSync(program, `#!/bin/sh\n${refusal}\nexec nginx "$@"\n`)
    chmodSync(program, 0o755)
    const [role, ...bindings] = RIGHTS
    const rules = [...(Array.isArray(role?.rules) ? role.rules : []), ...ROUTER_RULES]
    for (const object of [{ ...role, rules } as ApiObject, ...bindings]) await api.create(object)
    for (const name of ['shop', 'blog']) await api.create(namespace(name))
    await api.create(ROUTE_DEFINITION as ApiObject)
    echoPort = await freePort()
    for (const [i, key] of ['shop/web', 'shop/cart', 'blog/web'].entries()) {
      const echo = await EchoService.start(key, `127.80.1.${i + 1}`, echoPort)
      services.push(echo)
      await api.create(echo.object)
    }
    await createOnce(
      api,
      hostRoute('shop/www', HOST, `/ web ${echoPort}`, `/cart cart ${echoPort}`),
    )
    port = await freePort()
    router = startRouter()
    await router.line(/^ready: 1 hosts with 2 paths are routed$/)
  })

  afterAll(async () => {
    await router?.stop()
    for (const service of services) service.close()
    await api?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Starts the router anew, which may reload nginx ten times at once again. */
  async function restartRouter(): Promise<void> {
    await router.stop()
    router = startRouter()
    await router.line(/^ready: /)
  }

  function startRouter(): Running {
    const args = ['--conf', join(folder, 'Corefile'), '--kubeconfig', api.exporterConfig]
    const own = ['--http', `127.0.0.1:${port}`, '--folder', place]
    return start(KUBEDOH, ['router', 'nginx', ...args, ...own], { KUBEDOH_NGINX: program })
  }

  const routes = [
    { path: '/', body: 'web / www.a.test' },
    { path: '/x/y?q=1&r=%20', body: 'web /x/y?q=1&r=%20 www.a.test' },
    { path: '/cart', body: 'cart / www.a.test /cart' },
    { path: '/cart?q=1', body: 'cart /?q=1 www.a.test /cart' },
    { path: '/cart/', body: 'cart / www.a.test /cart' },
    { path: '/cart/items/1?q=/cart/', body: 'cart /items/1?q=/cart/ www.a.test /cart' },
    { path: '/cart/a%20b', body: 'cart /a%20b www.a.test /cart' },
    { path: '//cart/../cart/x', body: 'cart /x www.a.test /cart' },
    { path: '/cartoon', body: 'web /cartoon www.a.test' },
    { path: '/Cart', body: 'web /Cart www.a.test' },
  ]
  for (const { path, body } of routes) {
    it(`proxies ${path}`, async () => {
      equal(await get(HOST, path), `200 ${body}`)
    })
  }

  it('lets a client change to a WebSocket, and to no other protocol', async () => {
    equal(await fetchFrom(port, HOST, '/', 'WebSocket'), '200 web / www.a.test websocket')
    equal(await fetchFrom(port, HOST, '/', 'h2c'), '200 web / www.a.test')
  })

  it('answers 404 for other hosts, logs no request, and writes a condition', async () => {
    equal(await get('other.a.test', '/'), '404')
    doesNotMatch(router.tail(), /\[warn\]/)
    await condition(hostRoute('shop/www', HOST), 'Routed True Routed')
  })

  it('answers 503 where the Service is missing, until it comes', async () => {
    const host = 'late.a.test'
    const object = hostRoute('shop/late', host, `/ web ${echoPort}`, `/x late ${echoPort}`)
    await api.create(object)
    await condition(object, 'Routed False ServiceNotFound')
    deepEqual([await get(host, '/x/y'), await get(host, '/')], ['503', `200 web / ${host}`])
    const late = await EchoService.start('shop/late', '127.80.1.9', echoPort)
    services.push(late)
    await api.create(late.object)
    await condition(object, 'Routed True Routed')
    equal(await get(host, '/x/y'), `200 late /y ${host} /x`)
    await api.delete(object)
    await becomes(() => get(host, '/'), '404')
  })

  it('refuses duplicates and hosts of others: the older one wins, until it is deleted', async () => {
    const host = 'x.open.a.test'
    const older = hostRoute('shop/a-older', host, `/ web ${echoPort}`)
    const cases = [
      { object: hostRoute('shop/b-same', host, `/ cart ${echoPort}`), reason: 'PathConflict' },
      {
        object: hostRoute('shop/c-other', 'b.test', `/ web ${echoPort}`),
        reason: 'OutsideAllowedZones',
      },
    ]
    for (const one of [older, ...cases.map(({ object }) => object)]) await api.create(one)
    for (const { object, reason } of cases) await condition(object, `Routed False ${reason}`)
    equal(await get(host, '/'), `200 web / ${host}`)
    // Times of creation are whole seconds: it must be younger than all others.
    await new Promise((resolve) => setTimeout(resolve, 1100))
    const foreign = hostRoute('blog/d-foreign', host, `/admin web ${echoPort}`)
    await api.create(foreign)
    await condition(foreign, 'Routed False Conflict')
    equal(await get(host, '/admin'), `200 web /admin ${host}`)
    await api.delete(older)
    await condition(hostRoute('shop/b-same', host), 'Routed True Routed')
    equal(await get(host, '/'), `200 cart / ${host}`)
    for (const { object } of cases) await api.delete(object)
    await condition(foreign, 'Routed True Routed')
    equal(await get(host, '/admin/x'), `200 web /x ${host} /admin`)
    await api.delete(foreign)
    await becomes(() => get(host, '/admin/x'), '404')
  })

  it('is not impressed by objects that the API server would refuse', async () => {
    const specs = [
      ...HOSTILE_PATHS.map((path) => ({ ...routeTo(path), host: 'evil.a.test' })),
      ...HOSTILE_HOSTS.map((host) => ({ ...routeTo('/'), host })),
    ]
    const creationTimestamp = '2020-01-01T00:00:00Z'
    await api.store(
      specs.map((spec, i) => {
        const { metadata, ...rest } = hostRoute(`shop/evil-${i}`, 'x')
        return { ...rest, metadata: { ...metadata, uid: `uid-${i}`, creationTimestamp }, spec }
      }),
    )
    const after = hostRoute('shop/zz-after', 'after.a.test', `/ web ${echoPort}`)
    await api.create(after)
    await becomes(() => get('after.a.test', '/'), '200 web / after.a.test')
    equal(await get('evil.a.test', '/'), '404')
    const text = readFileSync(join(place, 'nginx.conf'), 'utf8')
    deepEqual(text.match(/server_name .*/g), ['server_name after.a.test;', `server_name ${HOST};`])
    equal(text.match(/listen .*/g)?.length, 4)
    await api.delete(after)
  })

  it('drops no request at a reload', async () => {
    await restartRouter()
    const isOver = AbortSignal.timeout(LOAD_MS)
    const results = new Map<string, number>()
    const load = async (): Promise<void> => {
      while (!isOver.aborted) {
        const found = await get(HOST, '/cart/x').catch((error: Error) => error.message)
        results.set(found, (results.get(found) ?? 0) + 1)
      }
    }
    const loads = Array.from({ length: 8 }, load)
    let reloads = 0
    while (!isOver.aborted) {
      const host = `r${reloads}.a.test`
      await api.create(hostRoute(`shop/r${reloads}`, host, `/ web ${echoPort}`))
      await becomes(() => get(host, '/'), `200 web / ${host}`)
      reloads++
    }
    await Promise.all(loads)
    for (let i = 0; i < reloads; i++) await api.delete(hostRoute(`shop/r${i}`, ''))
    const [[only = '', count = 0] = []] = results
    deepEqual([...results], [[`200 cart /x ${HOST} /cart`, count]])
    process.stderr.write(`${count} requests, 0 failed, during ${reloads} reloads (${only})\n`)
    equal(count > 200 && reloads >= 3, true, `${count} requests, ${reloads} reloads`)
  })

  it('finishes a request that has begun before a reload', async () => {
    await restartRouter()
    const [, cart] = services
    if (cart === undefined) throw new Error('no Service')
    cart.delayMs = 3000
    const slow = get(HOST, '/cart/slow')
    const object = hostRoute('shop/quick', 'quick.a.test', `/ web ${echoPort}`)
    await api.create(object)
    await becomes(() => get('quick.a.test', '/'), '200 web / quick.a.test')
    equal(await slow, `200 cart /slow ${HOST} /cart`)
    cart.delayMs = 0
    await api.delete(object)
  })

  it('keeps the last good configuration if nginx refuses one, and takes it later', async () => {
    writeFileSync(refusing, '')
    const object = hostRoute('shop/new', 'new.a.test', `/ web ${echoPort}`)
    await api.create(object)
    await condition(object, 'Routed False ConfigurationRefused')
    match(router.tail(), /the routes before stay in service: nginx: \[emerg\] invalid value/)
    deepEqual([await get('new.a.test', '/'), await get(HOST, '/')], ['404', `200 web / ${HOST}`])
    await condition(hostRoute('shop/www', HOST), 'Routed True Routed')
    rmSync(refusing)
    await condition(object, 'Routed True Routed')
    equal(await get('new.a.test', '/'), '200 web / new.a.test')
    await api.delete(object)
  })

  it('starts an nginx that was killed again', async () => {
    process.kill(Number(readFileSync(join(place, 'nginx.pid'), 'utf8')), 'SIGKILL')
    await router.line(/nginx has ended: SIGKILL/)
    await becomes(() => get(HOST, '/'), `200 web / ${HOST}`)
  })

  it('goes on without the API server, also after a start, and ends with nginx', async () => {
    await api.pause()
    equal(await router.stop(), 0)
    equal(existsSync(join(place, 'nginx.pid')), false)
    router = startRouter()
    await becomes(() => get(HOST, '/cart'), `200 cart / ${HOST} /cart`)
    await api.resume()
    await router.line(/^ready: 1 hosts with 2 paths are routed$/)
  })

  it('prints the configuration', () => {
    const args = ['--conf', join(folder, 'Corefile'), '--kubeconfig', api.exporterConfig, '--print']
    const text = execFileSync(KUBEDOH, ['router', 'nginx', ...args], { encoding: 'utf8' })
    match(text, /server_name www\.a\.test;\n.*proxy_pass http:\/\/127\.80\.1\.1:\d+; \}\n/)
  })

  /** Waits until an object has a condition; the first one is of the exporter or ours. */
  async function condition(object: ApiObject, expected: string): Promise<void> {
    await becomes(async () => (await conditionsOf(api, object)).join(), expected)
  }
})
