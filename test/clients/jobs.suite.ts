/**
 * CI jobs without a secret: the kit's action, as a runner executes it, with an identity that the
 * runner's issuer signs. Run by `npm run test:clients`.
 * @module
 */
import { deepEqual, equal, match } from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { parse } from 'yaml'
import { generateKeyPair } from '../../src/snapshot/format/signature.ts'
import { describeUnless } from '../describe-unless.ts'
import { JobIssuer } from './job-issuer.ts'
import { inOwnEtc, NAME, NEEDS_ROOT, PUBLIC, startShipped } from './own-machine.ts'
import { findMissing } from './programs.ts'
import { ADMIN, RUN, TlsGateways } from './tls-gateway.ts'

const AUDIENCE = 'kubedoh-of-acme'
const MAIN = 'refs/heads/main'
const JOB = ['acme/shop', MAIN] as const
const missing = ['curl', 'unshare'].map(findMissing).find((one) => one !== undefined)

type Ended = { readonly status: number | null; readonly stdout: string; readonly stderr: string }
type Variables = Readonly<Record<string, string>>

describeUnless(NEEDS_ROOT ?? missing, 'a CI job', () => {
  const gateways = new TlsGateways()
  const file = (name: string): string => gateways.file(name)
  const kit = (name: string): string => join(file('kit'), name)
  let issuer: JobIssuer
  let origin = ''

  beforeAll(async () => {
    issuer = await JobIssuer.start()
    await gateways.startPage()
    const when = { repository: 'acme/*', ref: MAIN }
    const rules = [{ when, namespaces: ['shop'], expires: '1h' }]
    const ISSUERS = JSON.stringify([{ issuer: issuer.url, audiences: [AUDIENCE], rules }])
    const EXCHANGE_KEY = (await generateKeyPair()).privateKey
    origin = await startShipped(gateways, { ISSUERS, EXCHANGE_KEY })
    const args = [RUN, 'token', 'create', '--gateway', origin, '--kit', file('kit')]
    const variables = { KUBEDOH_ADMIN_TOKEN: ADMIN, KUBEDOH_CA: file('ca.pem') }
    const env = { ...process.env, ...variables }
    const made = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
    equal(made.status, 0, made.stderr)
    mkdirSync(file('bin'))
    const programs = {
      kubedoh: `exec ${process.execPath} ${RUN} "$@"`,
      resolvectl: 'exit 1',
      sudo: '[ "$1" = -E ] && shift; exec "$@"',
    }
    for (const [name, text] of Object.entries(programs)) {
      writeFileSync(file(`bin/${name}`), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
    }
  })

  afterAll(async () => {
    await gateways.stop()
    issuer?.stop()
  })

  /** Runs a command on the runner; this process answers for the issuer meanwhile. */
  async function run(
    [program = '', ...args]: readonly string[],
    variables: Variables,
  ): Promise<Ended> {
    const { PATH } = process.env
    const trusting = { CURL_CA_BUNDLE: file('ca.pem'), KUBEDOH_CA: file('ca.pem') }
    const own = { PATH: `${file('bin')}:${PATH}`, TMPDIR: file(''), ...trusting, ...variables }
    const child = spawn(program, args, { env: own, stdio: ['ignore', 'pipe', 'pipe'] })
    const ended = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].on('data', (chunk) => {
        ended[name] += String(chunk)
      })
    }
    const [status] = await once(child, 'close')
    return { status, ...ended }
  }

  function takeToken(variables: Variables, script = kit('kubedoh-token.sh')): Promise<Ended> {
    return run(['sh', script], variables)
  }

  it("resolves the cluster's names by the action, and has no secret", async () => {
    const { inputs, runs } = parse(readFileSync(kit('action.yml'), 'utf8'))
    equal(inputs.token.required, false)
    // A runner runs `shell: sh` so.
    writeFileSync(file('step.sh'), runs.steps[1].run)
    const ask = `getent ahostsv4 ${NAME}; getent ahostsv4 ${PUBLIC}; ! getent ahostsv4 no.test`
    const command = ['sh', '-c', `sh -e ${file('step.sh')}; ${ask}`]
    const { status, stdout, stderr } = await run(
      ['unshare', ...inOwnEtc(file('runner'), {}, command)],
      {
        ...issuer.environmentOf(...JOB),
        GITHUB_ACTION_PATH: file('kit'),
        KUBEDOH_CLIENT_TOKEN: '',
      },
    )
    deepEqual({ status, stderr }, { status: 0, stderr: '' })
    match(stdout, /^::add-mask::\S+\n/)
    for (const name of [NAME, PUBLIC]) match(stdout, new RegExp(`^127.0.0.1 +STREAM ${name}$`, 'm'))
  })

  it('gets a token for KUBEDOH_JWT, as of GitLab, whose namespaces it sees', async () => {
    const taken = await takeToken({ KUBEDOH_JWT: await issuer.tokenOf(...JOB, AUDIENCE) })
    equal(taken.status, 0, taken.stderr)
    const KUBEDOH_CLIENT_TOKEN = taken.stdout.trim()
    const ask = async (name: string): Promise<string> => {
      const args = ['query', name, '--server', `${origin}/dns-query`]
      const { stdout, stderr } = await run(['kubedoh', ...args], { KUBEDOH_CLIENT_TOKEN })
      return stdout || stderr
    }
    match(await ask(NAME), /NOERROR/)
    match(await ask(NAME.replace('.shop.', '.bank.')), /NXDOMAIN/)
  })

  it('is refused for another branch, repository or audience', async () => {
    const otherAudience = readFileSync(kit('kubedoh-token.sh'), 'utf8').replace(AUDIENCE, 'vault')
    writeFileSync(file('other.sh'), otherAudience)
    const refused = await Promise.all([
      takeToken(issuer.environmentOf('acme/shop', 'refs/heads/topic')),
      takeToken(issuer.environmentOf('evil/shop', MAIN)),
      takeToken(issuer.environmentOf(...JOB), file('other.sh')),
      takeToken({ KUBEDOH_JWT: 'not.a.token' }),
    ])
    for (const { status, stdout, stderr } of refused) {
      deepEqual({ status, stdout }, { status: 1, stdout: '' })
      match(stderr, /^No token from https:\S+ for this job: \{"error":"invalid_grant"/)
    }
  })

  it('without the permission for an identity reads what to do', async () => {
    const { status, stderr } = await takeToken({})
    equal(status, 2)
    match(stderr, /The job needs "?permissions: \{ id-token: write \}/)
  })
})
