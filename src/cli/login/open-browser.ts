/**
 * Opens a page in the browser of this machine.
 * @module
 */
import { spawn } from 'node:child_process'

/** Variable with the program that opens pages. */
const BROWSER_VARIABLE = 'BROWSER'

type Environment = (name: string) => string

/**
 * Opens a page where there is a browser: the program that BROWSER names, else that of the system.
 * Never fails: the page's URL is in the terminal, too.
 */
export function openBrowser(url: URL, env: Environment): void {
  const [program, ...args] = browserOf(process.platform, env)
  if (program === undefined || !['https:', 'http:'].includes(url.protocol)) return
  try {
    const child = spawn(program, [...args, url.href], { stdio: 'ignore', detached: true })
    child.on('error', () => undefined)
    child.unref()
  } catch {
    // A program that cannot start is as good as none.
  }
}

function browserOf(platform: string, env: Environment): readonly string[] {
  if (env(BROWSER_VARIABLE) !== '') return [env(BROWSER_VARIABLE)]
  if (platform === 'darwin') return ['open']
  // "start" is the shell's, which would read the "&" of the URL.
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  // Without a screen, xdg-open would start a browser in this terminal.
  return env('DISPLAY') === '' && env('WAYLAND_DISPLAY') === '' ? [] : ['xdg-open']
}
