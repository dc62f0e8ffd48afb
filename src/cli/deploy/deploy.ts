/**
 * `kubedoh deploy`: checks an environment of the Worker, then deploys it with the wrangler of the
 * folder.
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
import type { WorkerEnvironment } from './environment.ts'

/** What this module uses of wrangler. */
type Wrangler = {
  readonly unstable_readConfig: (
    at: { readonly config: string; readonly env?: string },
    options: { readonly hideWarnings: boolean },
  ) => WorkerEnvironment
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
      'keep-vars': { type: 'boolean' },
      'secrets-file': { type: 'string' },
    },
  })
  const config = resolve(String(values.config ?? CONFIG))
  const packages = createRequire(resolve(CONFIG))
  const { env, var: given = [] } = values
  if (typeof env === 'string') checkDefined(env, read(packages, config, ''), config)
  const environment = read(packages, config, env)
  // Wrangler may also take the name from the process's environment.
  checkDefined(environment.targetEnvironment, environment, config)
  const keepsOthers = values['keep-vars'] !== undefined || values['secrets-file'] !== undefined
  const checked = {
    ...environment,
    vars: { ...environment.vars, ...Object.fromEntries(given.map(split)) },
    keep_vars: environment.keep_vars === true || keepsOthers,
  }
  await checkDeployment(checked, output).catch((error: unknown) => {
    if (error instanceof CommandError) throw error
    throw new CommandError([...reasons(error), REFUSED].join('\n'), { cause: error })
  })
  const program = join(dirname(packages.resolve('wrangler/package.json')), 'bin/wrangler.js')
  const named = values.config === undefined ? ['-c', config] : []
  // Wrangler warns of a choice that is not explicit.
  const chosen = environment.targetEnvironment === undefined ? ['--env='] : []
  const all = [program, 'deploy', ...named, ...chosen, ...args]
  const { status } = spawnSync(process.execPath, all, {
    stdio: 'inherit',
    env: { ...process.env, ...SILENCE },
  })
  if (status !== 0) throw new CommandError('wrangler did not deploy the Worker; see above')
}

/** Refuses an environment that the file lacks: wrangler would take the variables of production. */
function checkDefined(
  name: string | undefined,
  { definedEnvironments = [] }: WorkerEnvironment,
  config: string,
): void {
  if (!name || definedEnvironments.includes(name)) return
  throw new CommandError(`${config} has no [env.${name}]; add it, with variables and bindings`)
}

/** Reads an environment of a configuration as wrangler does. */
function read(packages: NodeJS.Require, config: string, env: unknown): WorkerEnvironment {
  let wrangler: Wrangler
  try {
    Object.assign(process.env, SILENCE)
    wrangler = packages('wrangler')
  } catch {
    throw new CommandError('wrangler is not installed here; run: npm install')
  }
  try {
    const named = typeof env === 'string' ? { env } : {}
    // Wrangler prints its warnings when it deploys.
    return wrangler.unstable_readConfig({ config, ...named }, { hideWarnings: true })
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
