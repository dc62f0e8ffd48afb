/**
 * What a person does on the gateway's page, in a driven browser.
 * @module
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'puppeteer-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const WAIT_MS = 20_000
const TICK_MS = 50

/** Runs an expression until it is true in the page, for at most 20 seconds. */
export async function until(page: Page, expression: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < WAIT_MS; waitedMs += TICK_MS) {
    if ((await page.evaluate(`Boolean(${expression})`)) === true) return
    await new Promise((resolve) => setTimeout(resolve, TICK_MS))
  }
  const text = String(await page.evaluate('document.body.innerText'))
  assert.fail(`never: ${expression}\n${text.slice(0, 2000)}`)
}

/** Returns the expression that is true while the page shows a text. */
export const shows = (text: string): string =>
  `document.body.innerText.includes(${JSON.stringify(text)})`

/** Clicks a button or a label by its text. */
export async function click(page: Page, text: string): Promise<void> {
  const found = `[...document.querySelectorAll('button, label')].find((one) => one.innerText.trim().startsWith(${JSON.stringify(text)}))`
  await until(page, found)
  await page.evaluate(`${found}.click()`)
}

/** Puts a text into a field, as a person who pastes it does. */
export async function paste(page: Page, field: string, text: string): Promise<void> {
  await page.evaluate(
    `{ const field = document.querySelector(${JSON.stringify(field)}); field.value = ${JSON.stringify(text)}; field.dispatchEvent(new Event('input', { bubbles: true })) }`,
  )
}

/** Fails when axe finds something that some people could not use. @param state of the page */
export async function checkAccessible(page: Page, state: string): Promise<void> {
  await page.evaluate(AXE)
  const found = await page.evaluate(
    `axe.run().then(({ violations }) => JSON.stringify(violations.map(({ id, nodes }) => [id, nodes.map(({ html, failureSummary }) => html + failureSummary)]), null, 1))`,
  )
  assert.equal(found, '[]', state)
}
