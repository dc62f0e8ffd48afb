/**
 * `kubedoh deploy`: checks the Worker's variables, then deploys it with the wrangler of the folder.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ConfigError, formatProblem } from '../../corefile/problem.ts'
import { errorText } from '../../dns/bytes/unknown.ts'
import { GatewayConfigError } from '../../gateway/config/config.ts'
import { CommandError, type Output } from '../../server/node/output.ts'
import type { Input } from '../flags/flags.ts'
import { checkDeployment } from './deployment.ts'

/** What this module uses of wrangler. */
type Wrangler = {
  readonly unstable_readConfig: (at: { readonly config: string; readonly env?: string }) => {
    readonly vars: Readonly<Record<string, unknown>>
  }
}

const CONFIG = 'wrangler.toml'
const REFUSED = 'not deployed: with these variables the Worker answers 503'
/** What wrangler must not send, or print above its output. */
const SILENCE = {
  WRANGLER_SEND_METRICS: 'false',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  WRANGLER_HIDE_BANNER: 'true',
}

/**
 * Deploys. The arguments are wrangler's.
 * @throws {CommandError} for a configuration that cannot be read or used, and without wrangler
 */
export async function runDeploy({ args }: Input, output: Output): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    strict: false,
    options: {
      config: { type: 'string', short: 'c' },
      env: { type: 'string', short: 'e' },
      var: { type: 'string', multiple: true },
    },
  })
  const config = resolve(String(values.config ?? CONFIG))
  const packages = createRequire(resolve(CONFIG))
  const { env, var: given = [] } = values
  const vars = { ...read(packages, config, env), ...Object.fromEntries(given.map(split)) }
  await checkDeployment(vars, output).catch((error: unknown) => {
    throw new CommandError([...reasons(error), REFUSED].join('\n'), { cause: error })
  })
  const program = join(dirname(packages.resolve('wrangler/package.json')), 'bin/wrangler.js')
  const named = values.config === undefined ? ['-c', config] : []
  const { status } = spawnSync(process.execPath, [program, 'deploy', ...named, ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...SILENCE },
  })
  if (status !== 0) throw new CommandError('wrangler did not deploy the Worker; see above')
}

/** Reads the variables of a configuration as wrangler does. */
function read(packages: NodeJS.Require, config: string, env: unknown): Record<string, unknown> {
  let wrangler: Wrangler
  try {
    Object.assign(process.env, SILENCE)
    wrangler = packages('wrangler')
  } catch {
    throw new CommandError('wrangler is not installed here; run: npm install')
  }
  try {
    const named = typeof env === 'string' ? { env } : {}
    return { ...wrangler.unstable_readConfig({ config, ...named }).vars }
  } catch (error) {
    throw new CommandError(`Cannot read ${config}: ${errorText(error)}`, { cause: error })
  }
}

function reasons(error: unknown): string[] {
  if (error instanceof ConfigError) return error.problems.map(formatProblem)
  if (error instanceof GatewayConfigError) return [error.message]
  throw error
}

/** Splits wrangler's `--var NAME:VALUE`. */
function split(text: unknown): [string, string] {
  const [name = '', ...value] = String(text).split(':')
  return [name, value.join(':')]
}
