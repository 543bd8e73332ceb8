export { openFieldEditor } from "./parts/field-editor.ts";
