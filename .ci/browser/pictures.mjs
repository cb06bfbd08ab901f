// Draws the pictures of README from the example report: `node pictures.mjs CHROMIUM REPORT.html FOLDER`, where puppeteer-core is installed.
import { pathToFileURL } from 'node:url';
import puppeteer from 'puppeteer-core';

const [browser, report, folder] = process.argv.slice(2);
const chromium = await puppeteer.launch({ executablePath: browser, args: ['--no-sandbox'] });
const page = await chromium.newPage();
await page.setViewport({ width: 1280, height: 900 });
await page.goto(pathToFileURL(report).href);

/// The window with the first element of a selector at this part of it, as a picture.
const draw = async (selector, block, name) => {
  const found = await page.evaluate((selector, block) => {
    const element = document.querySelector(selector);
    element?.scrollIntoView({ block });
    return element !== null;
  }, selector, block);
  if (!found) throw new Error(`${report} has no ${selector}`);
  await page.screenshot({ path: `${folder}/${name}.png` });
};

await draw('#findings', 'start', 'finding');
await draw('#document .sheet', 'start', 'document');
await chromium.close();
