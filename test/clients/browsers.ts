/**
 * Chromium and Firefox, each driven by its own protocol (CDP, WebDriver BiDi) through Puppeteer.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import puppeteer, { type Browser, type Page } from 'puppeteer-core'

/** The browsers that the suites drive, and Debian's programs. */
export const BROWSERS = { chrome: 'chromium', firefox: 'firefox-esr' } as const

/** A browser. */
export type BrowserName = keyof typeof BROWSERS

/** How a page may look. */
export type Look = { readonly isDark: boolean; readonly width: 1280 | 375 }

/**
 * The looks to check in a browser: each colour at each width in Chromium; in Firefox, which takes
 * twice the time, each colour and each width once.
 */
export const LOOKS: Readonly<Record<BrowserName, readonly Look[]>> = {
  chrome: [
    { isDark: false, width: 1280 },
    { isDark: false, width: 375 },
    { isDark: true, width: 1280 },
    { isDark: true, width: 375 },
  ],
  firefox: [
    { isDark: false, width: 1280 },
    { isDark: true, width: 375 },
  ],
}

/** How to start a browser. */
export type BrowserOptions = {
  readonly isDark?: boolean
  readonly width?: number
  readonly height?: number
  /** Starts in place of the browser's program, and passes its arguments on. */
  readonly program?: string
  /** Fills the folder that is the home and the profile of the browser. */
  readonly prepare?: (folder: string) => Promise<void>
}

/** A started browser with one open page. */
export type OpenBrowser = {
  readonly browser: Browser
  readonly page: Page
  /** Ends the browser and removes its profile. */
  readonly close: () => Promise<void>
}

/** Starts a browser with a profile of its own, which accepts the certificates of the tests. */
export async function openBrowser(
  name: BrowserName,
  { isDark = false, width = 1280, height = 900, program, prepare }: BrowserOptions = {},
): Promise<OpenBrowser> {
  const userDataDir = mkdtempSync(join(tmpdir(), `kubedoh-${name}-`))
  await prepare?.(userDataDir)
  const which = spawnSync('sh', ['-c', `command -v ${BROWSERS[name]}`], { encoding: 'utf8' })
  const chromeArgs = ['--no-sandbox', '--disable-gpu', '--force-color-profile=srgb']
  const browser = await puppeteer.launch({
    browser: name,
    executablePath: program ?? which.stdout.trim(),
    headless: true,
    acceptInsecureCerts: true,
    userDataDir,
    defaultViewport: { width, height },
    env: { ...process.env, HOME: userDataDir },
    args: name === 'chrome' ? chromeArgs : [],
    extraPrefsFirefox: { 'ui.systemUsesDarkTheme': isDark ? 1 : 0 },
  })
  const page = await browser.newPage()
  if (name === 'chrome') {
    await page.emulateMediaFeatures([
      { name: 'prefers-color-scheme', value: isDark ? 'dark' : 'light' },
    ])
  }
  const close = async (): Promise<void> => {
    await browser.close()
    rmSync(userDataDir, { recursive: true, force: true, maxRetries: 5 })
  }
  return { browser, page, close }
}
