import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, type TestContext, test, vi } from 'vitest'
import type { LogEvent } from '../../../src/dns/telemetry/log.ts'
import type { Bucket } from '../../../src/server/gateway/bucket.ts'
import { createS3Bucket } from '../../../src/server/gateway/s3-client.ts'
import {
  openS3Store,
  parseS3Place,
  readS3Options,
  type S3Environment,
} from '../../../src/server/gateway/s3-store.ts'
import { webIdentity } from '../../../src/server/gateway/web-identity.ts'
import { runCli } from '../../cli/run-cli.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { within } from '../clients.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Starts a server that answers each request; resolves with its URL. */
async function serve(t: TestContext, handle: Handler): Promise<string> {
  const server = createServer((request, response) => {
    request.resume()
    request.once('end', () => handle(request, response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}

/** The variables that EKS sets. */
const ROLE = {
  ...{ AWS_REGION: 'eu-north-1', AWS_ACCESS_KEY_ID: '' },
  ...{ AWS_ROLE_ARN: 'arn:aws:iam::1:role/dns', AWS_WEB_IDENTITY_TOKEN_FILE: '/token' },
}
const KEYS = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' }

/** The variables of a server on this machine. */
function at(url: string): S3Environment {
  return environment({ ...KEYS, AWS_ENDPOINT_URL: url })
}

function environment(
  variables: Readonly<Record<string, string>>,
  isInsecure = false,
): S3Environment {
  return { env: (name: string): string => variables[name] ?? '', isInsecure }
}

async function open(
  url: string,
): Promise<{ readonly error: string; readonly warnings: readonly LogEvent[] }> {
  const warnings: LogEvent[] = []
  try {
    await openS3Store('s3://names/p', at(url), (event) => warnings.push(event))
    return { error: '', warnings }
  } catch (error) {
    return { error: error instanceof Error ? error.message : '', warnings }
  }
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response
    .writeHead(status)
    .end(`<Error><Code>${code}</Code><Message>So &amp; so</Message></Error>`)
}

describe('s3://BUCKET/PREFIX', () => {
  for (const [text, expected] of [
    ['s3://names', { bucket: 'names', prefix: '' }],
    ['s3://names/', { bucket: 'names', prefix: '' }],
    ['s3://na.mes-1/a/b_c', { bucket: 'na.mes-1', prefix: 'a/b_c/' }],
    ['s3://names//a//', { bucket: 'names', prefix: 'a/' }],
    ['s3://names/a/../b', undefined],
    ['s3://names/a b', undefined],
    ['s3://Names', undefined],
    ['s3://', undefined],
    ['s3:names', undefined],
  ] as const) {
    test(`${text} is ${expected === undefined ? 'refused' : JSON.stringify(expected)}`, () => {
      assert.deepEqual(parseS3Place(text), expected)
    })
  }

  for (const [variables, bucket, expected] of [
    [{ AWS_REGION: 'eu-north-1' }, 'names', 'https://names.s3.eu-north-1.amazonaws.com'],
    [{ AWS_REGION: 'eu-north-1' }, 'na.mes', 'https://s3.eu-north-1.amazonaws.com/na.mes'],
    [{ AWS_REGION: 'cn-north-1' }, 'names', 'https://names.s3.cn-north-1.amazonaws.com.cn'],
    [{ AWS_ENDPOINT_URL: 'https://s3.test/' }, 'names', 'https://s3.test/names'],
    [{ AWS_ENDPOINT_URL_S3: 'https://a.test', AWS_ENDPOINT_URL: 'x' }, 'b-c', 'https://a.test/b-c'],
    [{ AWS_ENDPOINT_URL: 'http://localhost:9000' }, 'names', 'http://localhost:9000/names'],
    [{}, 'names', /needs AWS_REGION/],
    [{ AWS_REGION: 'a.b' }, 'names', /AWS_REGION is "a.b"/],
    [{ AWS_ENDPOINT_URL: 'ftp://x' }, 'names', /AWS_ENDPOINT_URL is not a URL such as https:/],
    [
      { AWS_ENDPOINT_URL_S3: 'https://id:key@a.test' },
      'names',
      /^AWS_ENDPOINT_URL_S3 is not a URL/,
    ],
    [{ AWS_ENDPOINT_URL: 'http://s3.test' }, 'names', /would send hashes of tokens, or/],
    [{ AWS_REGION: 'eu-north-1', AWS_ACCESS_KEY_ID: '' }, 'names', /needs AWS_ACCESS_KEY_ID/],
    [
      { ...ROLE, AWS_ENDPOINT_URL_STS: 'http://sts.test' },
      'names',
      /_STS http.* the token of a role/,
    ],
    [{ ...ROLE, AWS_ENDPOINT_URL_STS: 'sts.test' }, 'names', /AWS_ENDPOINT_URL_STS is not a URL/],
  ] as const) {
    test(`by ${JSON.stringify(variables)} is ${String(expected)}`, () => {
      const read = (): string =>
        readS3Options({ bucket, prefix: '' }, environment({ ...KEYS, ...variables })).url
      if (typeof expected === 'string') assert.equal(read(), expected)
      else assert.throws(read, { message: expected })
    })
  }

  test('may be without TLS on another machine where the operator says so', () => {
    const from = environment({ ...KEYS, AWS_ENDPOINT_URL: 'http://s3.test' }, true)
    assert.equal(readS3Options({ bucket: 'b-c', prefix: '' }, from).url, 'http://s3.test/b-c')
  })
})

describe('a gateway on a bucket starts', () => {
  test('not, if the bucket writes whatever the condition', async (t) => {
    for (const [ignored, header] of [
      ['If-None-Match', 'if-none-match'],
      ['If-Match', 'if-match'],
    ] as const) {
      const url = await serve(t, ({ headers }, response) => {
        const isTaken = headers[header] !== undefined
        response.writeHead(isTaken ? 200 : 412, { etag: '"1"' }).end()
      })
      const { error } = await open(url)
      const expected = `Cannot use --store s3://names/p: the bucket ignores ${ignored} of conditional`
      assert.ok(error.startsWith(expected), error)
      assert.equal(error.includes('\n'), false)
    }
  })

  test('not, with keys that may nothing, without the bucket, or by a redirect', async (t) => {
    const elsewhere = await serve(t, () => assert.fail('the redirect was followed'))
    for (const [status, code, expected] of [
      [403, 'AccessDenied', /status 403, AccessDenied: So & so$/],
      [404, 'NoSuchBucket', /the bucket does not exist/],
      [301, 'PermanentRedirect', /status 301, .*the bucket is in the region eu-north-1$/],
    ] as const) {
      const url = await serve(t, (_, response) => {
        response.setHeader('location', elsewhere)
        if (status === 301) response.setHeader('x-amz-bucket-region', 'eu-north-1')
        refuse(response, status, code)
      })
      assert.match((await open(url)).error, expected)
    }
  })

  test('with a warning, if it may only read, or if the bucket is away', async (t) => {
    const readOnly = await serve(t, ({ method }, response) => {
      if (method === 'GET') response.writeHead(200).end('<ListBucketResult></ListBucketResult>')
      else refuse(response, 403, 'AccessDenied')
    })
    const broken = await serve(t, (_, response) => refuse(response, 500, 'InternalError'))
    for (const url of [readOnly, broken, 'http://127.0.0.1:1']) {
      const { error, warnings } = await open(url)
      assert.equal(error, '')
      assert.match(warnings[0]?.message ?? '', /^--store s3:\/\/names\/p cannot be written: names/)
    }
  })

  test('and checks the bucket before it first writes, if it was away at the start', async (t) => {
    let isAway = true
    const written: string[] = []
    const url = await serve(t, ({ method, url: path = '' }, response) => {
      if (isAway) return refuse(response, 500, 'InternalError')
      if (method === 'PUT') written.push(path)
      return method === 'PUT'
        ? response.writeHead(200, { etag: '"1"' }).end()
        : refuse(response, 404, 'NoSuchKey')
    })
    const store = await openS3Store('s3://names/p', at(url), () => undefined)
    isAway = false
    const added = store.directory?.store.add({ id: 'c', createdMs: 0, keys: [] })
    await assert.rejects(added ?? assert.fail(), { message: /ignores If-None-Match/ })
    assert.deepEqual(new Set(written), new Set(['/names/p/check']))
  })

  test('not, by the command, whose one line says why', async (t) => {
    const conf = join(temporaryFolder(t, { Corefile: '. {\n  whoami\n}\n' }), 'Corefile')
    const run = (store: string, variables = {}): ReturnType<typeof runCli> =>
      runCli(['gateway', '--conf', conf, '--store', store], { CLUSTERS: '{}', ...variables })
    const bad = await run('s3://Names')
    assert.equal(bad.stderr.trim().split('\n').length, 1)
    assert.match(bad.stderr, /--store is "s3:\/\/Names", expected s3:\/\/BUCKET\/PREFIX/)
    assert.match((await run('s3://names')).stderr, /needs AWS_REGION/)
    const url = await serve(t, (_, response) => response.writeHead(200, { etag: '"1"' }).end())
    const refused = await run('s3://names', { ...KEYS, AWS_ENDPOINT_URL: url })
    assert.match(
      refused.stderr,
      /Cannot use --store s3:\/\/names: the bucket ignores If-None-Match/,
    )
  })
})

describe('a conditional write that the server makes, but answers with an error,', () => {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

  /** A server that answers the first write with 503, makes it, and then has `after`. */
  async function open(t: TestContext, after: string): Promise<Bucket> {
    let writes = 0
    const url = await serve(t, ({ method }, response) => {
      if (method === 'PUT') return refuse(response, writes++ === 0 ? 503 : 412, 'SlowDown')
      response.writeHead(200, { etag: '"2"' }).end(after)
    })
    return createS3Bucket(readS3Options({ bucket: 'b-c', prefix: '' }, at(url)))
  }

  test('is not taken for that of another writer', async (t) => {
    const options = { before: '"1"', writtenMs: 0 }
    const bucket = await open(t, 'ours')
    assert.equal(await bucket.swap('head', bytes('ours'), options), '"2"')
    // Whether it was made before the other one is unknown: nothing may be undone.
    const other = await open(t, 'of another')
    const swapped = other.swap('head', bytes('ours'), options)
    await assert.rejects(swapped, { code: 'store_unavailable' })
  })
})

test('a bucket refuses an object that no gateway could read again', async () => {
  const fetched: unknown[] = []
  const options = readS3Options({ bucket: 'b-c', prefix: '' }, at('https://s3.test'))
  const fetch = async (...request: unknown[]): Promise<Response> => {
    fetched.push(request)
    return new Response(null, { headers: { etag: '"1"' } })
  }
  const bucket = createS3Bucket({ ...options, fetch })
  const [largest, larger] = [new Uint8Array(40_960_000), new Uint8Array(40_960_001)]
  const conditions = { before: '"0"', writtenMs: 0 }
  assert.equal(await bucket.swap('tokens', largest, conditions), '"1"')
  const refusal = { status: 507, code: 'no_space' }
  await assert.rejects(bucket.swap('tokens', larger, conditions), refusal)
  await assert.rejects(async () => bucket.put('tokens', larger, 0), refusal)
  assert.equal(fetched.length, 1)
})

describe('the keys of a role', () => {
  const answer = (id: number, endMs: number): Response =>
    new Response(
      `<AssumeRoleWithWebIdentityResponse><Credentials><AccessKeyId>id${id}</AccessKeyId>` +
        '<SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>' +
        `<Expiration>${new Date(endMs).toISOString()}</Expiration></Credentials>` +
        '</AssumeRoleWithWebIdentityResponse>',
    )

  test('come for a token, are renewed before they end, and stay while that fails', async () => {
    let nowMs = 0
    let isAway = false
    const sent: string[] = []
    const credentials = webIdentity({
      url: 'https://sts.test',
      role: 'arn:aws:iam::1:role/dns',
      readToken: () => Promise.resolve('the-token\n'),
      now: () => nowMs,
      fetch: async (_, init) => {
        if (isAway) return new Response('<Error><Message>no</Message></Error>', { status: 400 })
        sent.push(String(init?.body))
        return answer(sent.length, nowMs + 3_600_000)
      },
    })
    const id = async (): Promise<string> => (await credentials()).accessKeyId
    assert.deepEqual(await Promise.all([id(), id()]), ['id1', 'id1'])
    assert.match(sent[0] ?? '', /RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fdns&.*Token=the-token$/)
    nowMs += 54 * 60_000
    assert.equal(await id(), 'id1')
    nowMs += 2 * 60_000
    isAway = true
    assert.equal(await id(), 'id1')
    isAway = false
    assert.equal(await id(), 'id1')
    await vi.waitFor(async () => assert.equal(await id(), 'id2'))
    isAway = true
    nowMs += 3_600_000
    await assert.rejects(id(), { message: /status 400, no$/ })
  })

  test('come from the partition of the region', async (t) => {
    const folder = temporaryFolder(t, { token: 'the-token' })
    const urls: string[] = []
    vi.stubGlobal('fetch', async (url: string) => {
      urls.push(url)
      return answer(1, Date.now() + 3_600_000)
    })
    t.onTestFinished(() => void vi.unstubAllGlobals())
    for (const AWS_REGION of ['eu-north-1', 'cn-north-1']) {
      const AWS_WEB_IDENTITY_TOKEN_FILE = join(folder, 'token')
      const variables = { ...ROLE, AWS_REGION, AWS_WEB_IDENTITY_TOKEN_FILE }
      await readS3Options({ bucket: 'b-c', prefix: '' }, environment(variables)).credentials()
    }
    const [first, second] = urls
    assert.equal(first, 'https://sts.eu-north-1.amazonaws.com')
    assert.equal(second, 'https://sts.cn-north-1.amazonaws.com.cn')
  })

  test('are used until they end while the service that renews them hangs', async () => {
    let nowMs = 0
    const answers = [Promise.resolve(answer(1, 3_600_000)), new Promise<Response>(() => undefined)]
    const credentials = webIdentity({
      url: 'https://sts.test',
      role: 'arn:aws:iam::1:role/dns',
      readToken: () => Promise.resolve('the-token'),
      now: () => nowMs,
      fetch: () => answers.shift() ?? assert.fail(),
    })
    await credentials()
    nowMs = 3_500_000
    const keys = await within(Promise.all([credentials(), credentials()]), 'the keys')
    assert.deepEqual(new Set(keys.map(({ accessKeyId }) => accessKeyId)), new Set(['id1']))
  })
})
