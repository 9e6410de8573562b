// A real browser for the tests, without a window. It ends with the process that launched it, and is in no hurry.
import { join } from 'node:path'
import { chromium, type Browser } from 'playwright-core'
import { folderOf, programs } from './programs.ts'

export const chromiumPath = (): string => process.env[programs.chromium.variable] || join(folderOf('chromium'), 'chromium')

export async function launchChromium(): Promise<Browser> {
  // Chromium's sandbox refuses root.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return chromium.launch({ executablePath: chromiumPath(), args, timeout: 0 })
}
