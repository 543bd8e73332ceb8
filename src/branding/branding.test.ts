import { expect, it } from "vitest";
import { openEngineDatabase } from "../../test/support/engine-database.ts";
import { TestClock } from "../../test/support/house.ts";
import { systemRandom } from "../base/random.ts";
import { openBranding } from "./branding.ts";

const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);

async function makeBranding() {
  const deps = { db: openEngineDatabase(), clock: new TestClock(), random: systemRandom, settledName: undefined };
  return { branding: await openBranding(deps), other: await openBranding(deps) };
}

it("is ours until it is told otherwise, and again when it is reset", async () => {
  const { branding } = await makeBranding();
  expect(branding.look()).toEqual({ name: undefined, logo: undefined, style: undefined });
  expect(await branding.setName("  Example Handover ")).toBe(true);
  expect(branding.look().name).toBe("Example Handover");
  await branding.reset("name");
  expect(branding.look().name).toBeUndefined();
});

it("takes no name that hides or breaks a line", async () => {
  const { branding } = await makeBranding();
  for (const name of ["", "   ", "a".repeat(61), "a\nb", "a\u202eb", "a\u0000"]) {
    expect(await branding.setName(name)).toBe(false);
  }
  expect(await branding.setName("<b>&")).toBe(true);
});

it("serves a file under a name that changes with its content", async () => {
  const { branding } = await makeBranding();
  expect(await branding.setLogo(png)).toBe(true);
  const first = branding.look().logo;
  expect(first).toMatchObject({ contentType: "image/png", content: png });
  expect(first?.filename).toMatch(/^logo-[0-9a-f]{16}\.png$/);
  expect(await branding.findFile(first?.filename ?? "")).toEqual(first);
  expect(await branding.setLogo(Buffer.concat([png, png]))).toBe(true);
  expect(await branding.findFile(first?.filename ?? "")).toBeUndefined();
});

it("takes a picture by its bytes, not by its name: no markup, and not too much", async () => {
  const { branding } = await makeBranding();
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>';
  for (const bytes of [
    Buffer.from(svg),
    Buffer.from("<html>"),
    Buffer.alloc(0),
    Buffer.concat([png, Buffer.alloc(262_144)]),
  ]) {
    expect(await branding.setLogo(bytes)).toBe(false);
  }
  expect(branding.look().logo).toBeUndefined();
});

it("is seen by another process at its next look, whatever the clock says", async () => {
  const { branding, other } = await makeBranding();
  expect(other.look().style).toBeUndefined();
  expect(await branding.setStyle("a { color: red }")).toBeUndefined();
  expect(other.look().style).toBeUndefined();
  await other.refresh();
  expect(other.look().style?.content.toString()).toBe("a{color:red}");
  await branding.reset("style");
  await branding.setStyle("a { color: blue }");
  await other.refresh();
  expect(other.look().style?.content.toString()).toBe("a{color:blue}");
});

it("is there at its address wherever a page that names it comes from", async () => {
  const { branding, other } = await makeBranding();
  await branding.setLogo(png);
  const logo = branding.look().logo;
  expect(await other.findFile(logo?.filename ?? "")).toEqual(logo);
});
