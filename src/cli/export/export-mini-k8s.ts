/**
 * `kubedoh export` with KUBEDOH_MINI_K8S: the REST paths of mini-k8s for its DNS objects.
 * @module
 */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Context, Hono } from 'hono'
import { errorText, isRecord, parseJson } from '../../dns/bytes/unknown.ts'
import { errorResponse, HttpError, notFound } from '../../gateway/doh/http-error.ts'
import { jsonResponse } from '../../gateway/doh/json-response.ts'
import { readBody } from '../../gateway/doh/read-body.ts'
import { isBearer, LOOPBACK } from '../../server/http/doh-listener.ts'
import { HttpServer } from '../../server/http/http-server.ts'
import { CommandError, listenMessage } from '../../server/node/output.ts'
import { requireTextFile } from '../../server/node/read-files.ts'
import { parseListenAddress } from '../../server/sockets/listen-address.ts'
import type { Input } from '../flags/flags.ts'
import { trimOwnToken } from '../flags/operator-call.ts'
import { MiniK8sObjects, type MiniK8sOptions, save } from './mini-k8s-objects.ts'

const FILE = 'mini-k8s.json'
const BODY_BYTES_MAX = 16 * 1024
const LIST = '/api/v1/namespaces/:namespace/dnsrecords'
const ONE = `${LIST}/:name`

/** Where the paths are served, and which file keeps their objects. */
export type MiniK8sPlace = {
  readonly host: string
  readonly port: number
  /** '' for none: at a loopback address only. */
  readonly token: string
  readonly file: string
}

/**
 * Returns where to serve the paths, and creates their file; `undefined` without KUBEDOH_MINI_K8S.
 * @throws {CommandError} without a folder for the file, and for an address that other machines
 * reach, unless there are a token and KUBEDOH_INSECURE
 */
export function miniK8sPlace(input: Input): MiniK8sPlace | undefined {
  const address = input.env('KUBEDOH_MINI_K8S')
  if (address === '') return undefined
  const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory()
  const folder = input.texts('objects').find(isFolder)
  if (folder === undefined || input.isSet('once')) {
    throw new CommandError('KUBEDOH_MINI_K8S needs --objects with a folder, and no --once')
  }
  const { host = '127.0.0.1', port } = parseListenAddress(address)
  const path = input.env('KUBEDOH_MINI_K8S_TOKEN')
  const token = path === '' ? '' : trimOwnToken(requireTextFile(path), path)
  if (path !== '' && token === '') throw new CommandError(`${path} is empty`)
  if (!LOOPBACK.has(host) && (token === '' || !input.isSet('insecure'))) {
    const wanted = 'use a loopback address, or set KUBEDOH_MINI_K8S_TOKEN and KUBEDOH_INSECURE=1'
    throw new CommandError(`KUBEDOH_MINI_K8S ${address} lets other machines write; ${wanted}`)
  }
  const file = join(folder, FILE)
  try {
    if (!existsSync(file)) save(file, [])
  } catch (error) {
    throw new CommandError(`KUBEDOH_MINI_K8S: ${errorText(error)}`)
  }
  return { host, port, token, file }
}

/**
 * Serves the paths.
 * @throws {CommandError} when it cannot listen, and for a file with anything but DNS objects
 */
export async function listenMiniK8s(
  { host, port, token }: MiniK8sPlace,
  options: MiniK8sOptions,
): Promise<HttpServer> {
  const server = new HttpServer(createMiniK8sApp(new MiniK8sObjects(options), token))
  try {
    await server.listen(host, port)
  } catch (error) {
    throw new CommandError(listenMessage(error, `KUBEDOH_MINI_K8S ${host}:${port}`), {
      cause: error,
    })
  }
  return server
}

/** Creates the app. Without a token it answers only requests for a loopback host. */
export function createMiniK8sApp(objects: MiniK8sObjects, token: string): Hono {
  const app = new Hono()
  app.onError((error) => {
    const isKnown = error instanceof HttpError
    return errorResponse(isKnown ? error : new HttpError(500, 'internal', errorText(error)))
  })
  app.notFound(() => errorResponse(notFound()))
  app.use(async (c, next) => {
    admit(c, token)
    await next()
  })
  app.get(LIST, (c) => jsonResponse(200, objects.list(c.req.param('namespace'))))
  app.get(ONE, (c) => jsonResponse(200, objects.get(keyOf(c))))
  app.post(LIST, async (c) => jsonResponse(200, objects.put(await readDocument(c))))
  app.post(`${ONE}/update`, async (c) => {
    const document = await readDocument(c)
    // Only now: another request may delete the object while the body arrives.
    objects.get(keyOf(c))
    return jsonResponse(200, objects.put(document))
  })
  app.delete(ONE, (c) => {
    objects.delete(keyOf(c))
    return jsonResponse(200, { message: 'deleted' })
  })
  return app
}

/** Refuses requests without the token; if there is no token, requests for another host. */
function admit(c: Context, token: string): void {
  if (token === '') {
    if (LOOPBACK.has(new URL(c.req.url).hostname)) return
    throw new HttpError(403, 'forbidden', 'Without a token, the host must be 127.0.0.1')
  }
  if (isBearer(c.req.header('authorization'), token)) return
  const challenge = { 'www-authenticate': 'Bearer realm="kubedoh"' }
  throw new HttpError(401, 'unauthorized', 'The bearer token is needed', challenge)
}

function keyOf(c: Context): string {
  return `${c.req.param('namespace')}/${c.req.param('name')}`
}

/** @throws {HttpError} 400, 413 or 415 for a body that does not fit the path */
async function readDocument(c: Context): Promise<unknown> {
  // A foreign page in a browser may not send this type.
  if (!/^application\/json\b/i.test(c.req.header('content-type') ?? '')) {
    throw new HttpError(415, 'unsupported_media_type', 'The body must be application/json')
  }
  const bytes = await readBody(c.req.raw, BODY_BYTES_MAX)
  const body = parseJson(new TextDecoder().decode(bytes))
  if (!isRecord(body)) throw new HttpError(400, 'bad_json', 'The body is not a JSON object')
  const at: Readonly<Record<string, string>> = c.req.param()
  const { kind = 'DNS', name = at.name, namespace = at.namespace, host, paths } = body
  if (namespace !== at.namespace || name !== (at.name ?? name)) {
    throw new HttpError(400, 'bad_field', 'name or namespace differs from the path')
  }
  return { kind, apiVersion: 'v1', name, namespace, host, paths }
}
