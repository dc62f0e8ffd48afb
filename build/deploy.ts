/**
 * `npm run deploy`: checks the Worker's variables, then deploys it. Arguments are wrangler's, such as
 * `--env staging`.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { unstable_readConfig as readConfig } from 'wrangler'
import { errorText } from '../src/bytes/unknown.ts'
import { ConfigError, formatProblem } from '../src/corefile/problem.ts'
import { GatewayConfigError } from '../src/gateway/config.ts'
import { checkDeployment } from './deployment.ts'

const ROOT = join(import.meta.dirname, '..')
const WRANGLER = join(ROOT, 'node_modules/wrangler/bin/wrangler.js')
const SILENCE = {
  WRANGLER_SEND_METRICS: 'false',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  WRANGLER_HIDE_BANNER: 'true',
}

process.exitCode = await deploy(process.argv.slice(2))

/** Returns the exit status. */
async function deploy(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    strict: false,
    options: {
      config: { type: 'string', short: 'c' },
      env: { type: 'string', short: 'e' },
      var: { type: 'string', multiple: true },
    },
  })
  const { config = join(ROOT, 'wrangler.toml'), env, var: given = [] } = values
  try {
    const { vars } = readConfig({ config: String(config), ...(env && { env: String(env) }) })
    await checkDeployment({ ...vars, ...Object.fromEntries(given.map(split)) }, process)
  } catch (error) {
    process.stderr.write(`${reasons(error).join('\n')}\n`)
    return 1
  }
  const named = values.config === undefined ? ['-c', String(config)] : []
  const { status } = spawnSync(process.execPath, [WRANGLER, 'deploy', ...named, ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...SILENCE },
  })
  return status ?? 1
}

function reasons(error: unknown): string[] {
  const refused = 'not deployed: with these variables the Worker answers 503'
  if (error instanceof ConfigError) return [...error.problems.map(formatProblem), refused]
  return error instanceof GatewayConfigError ? [error.message, refused] : [errorText(error)]
}

/** Splits wrangler's `--var NAME:VALUE`. */
function split(text: unknown): [string, string] {
  const [name = '', ...value] = String(text).split(':')
  return [name, value.join(':')]
}
