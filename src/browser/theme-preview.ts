import { previewTheme } from "./parts/theme-preview.ts";

void previewTheme();
