import { expect, test } from "vitest";
import { nothingElse } from "../../src/database/database.ts";
import { openTestDomain } from "../support/domain.ts";
import { newDataDir, runProgram } from "../support/processes.ts";

const logo = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);

test("keys replace-access and keys rotate keep the theme, whose rows are authenticated", async () => {
  const dataDir = newDataDir();
  const readTheme = async (
    change?: (domain: Awaited<ReturnType<typeof openTestDomain>>["domain"]) => Promise<unknown>,
  ) => {
    await using fixture = await openTestDomain({ dataDir });
    await change?.(fixture.domain);
    return fixture.domain.branding.theme();
  };
  const theme = await readTheme(async ({ branding }) => {
    await branding.setName("Example", nothingElse);
    await branding.setLogo(logo, nothingElse);
    await branding.setStyle("a { color: red }", nothingElse);
  });
  expect(theme).toMatchObject({
    name: "Example",
    logo: { content: logo },
    style: { content: Buffer.from("a{color:red}") },
  });
  for (const command of [["rotate"], ["replace-access", "--yes"], ["replace-access", "--yes"]]) {
    expect(await runProgram(["keys", ...command], { DATA_DIR: dataDir })).toMatchObject({ exitCode: 0 });
    expect(await readTheme()).toEqual(theme);
  }
});
