/* The files of the library's page, which become a part of the program by C23's #embed. As literals in Swift they would take
   the compiler minutes. */
#include "CPages.h"
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char api_js[] = {
#embed "../../Library/Console/Pages/api.js"
};
static const unsigned char app_js[] = {
#embed "../../Library/Console/Pages/app.js"
};
static const unsigned char console_css[] = {
#embed "../../Library/Console/Pages/console.css"
,
/* One style sheet for all pages is smaller than two, and no page waits for a second one. */
#embed "../../Library/Console/Pages/takes.css"
};
static const unsigned char day_facts_js[] = {
#embed "../../Library/Console/Pages/day-facts.js"
};
static const unsigned char day_js[] = {
#embed "../../Library/Console/Pages/day.js"
};
static const unsigned char deck_parts_js[] = {
#embed "../../Library/Console/Pages/deck-parts.js"
};
static const unsigned char deck_js[] = {
#embed "../../Library/Console/Pages/deck.js"
};
static const unsigned char dom_js[] = {
#embed "../../Library/Console/Pages/dom.js"
};
static const unsigned char format_js[] = {
#embed "../../Library/Console/Pages/format.js"
};
static const unsigned char icon_png[] = {
#embed "../../Library/Console/Pages/icon.png"
};
static const unsigned char icon_svg[] = {
#embed "../../Library/Console/Pages/icon.svg"
};
static const unsigned char index_html[] = {
#embed "../../Library/Console/Pages/index.html"
};
static const unsigned char kit_parts_js[] = {
#embed "../../Library/Console/Pages/kit-parts.js"
};
static const unsigned char kit_texts_de_js[] = {
#embed "../../Library/Console/Pages/kit-texts-de.js"
};
static const unsigned char kit_texts_en_js[] = {
#embed "../../Library/Console/Pages/kit-texts-en.js"
};
static const unsigned char kit_js[] = {
#embed "../../Library/Console/Pages/kit.js"
};
static const unsigned char listen_worklet_js[] = {
#embed "../../Library/Console/Pages/listen-worklet.js"
};
static const unsigned char listen_js[] = {
#embed "../../Library/Console/Pages/listen.js"
};
static const unsigned char live_spectrum_js[] = {
#embed "../../Library/Console/Pages/live-spectrum.js"
};
static const unsigned char marks_js[] = {
#embed "../../Library/Console/Pages/marks.js"
};
static const unsigned char openapi_json[] = {
#embed "../../Library/Console/Pages/openapi.json"
};
static const unsigned char player_worker_js[] = {
#embed "../../Library/Console/Pages/player-worker.js"
};
static const unsigned char player_js[] = {
#embed "../../Library/Console/Pages/player.js"
};
static const unsigned char problem_texts_de_js[] = {
#embed "../../Library/Console/Pages/problem-texts-de.js"
};
static const unsigned char problem_texts_en_js[] = {
#embed "../../Library/Console/Pages/problem-texts-en.js"
};
static const unsigned char problem_texts_ko_js[] = {
#embed "../../Library/Console/Pages/problem-texts-ko.js"
};
static const unsigned char settings_controls_js[] = {
#embed "../../Library/Console/Pages/settings-controls.js"
};
static const unsigned char settings_values_js[] = {
#embed "../../Library/Console/Pages/settings-values.js"
};
static const unsigned char sound_js[] = {
#embed "../../Library/Console/Pages/sound.js"
};
static const unsigned char spectrum_paint_js[] = {
#embed "../../Library/Console/Pages/spectrum-paint.js"
};
static const unsigned char spectrum_js[] = {
#embed "../../Library/Console/Pages/spectrum.js"
};
static const unsigned char take_actions_js[] = {
#embed "../../Library/Console/Pages/take-actions.js"
};
static const unsigned char take_notes_js[] = {
#embed "../../Library/Console/Pages/take-notes.js"
};
static const unsigned char take_js[] = {
#embed "../../Library/Console/Pages/take.js"
};
static const unsigned char takes_list_js[] = {
#embed "../../Library/Console/Pages/takes-list.js"
};
static const unsigned char takes_parts_js[] = {
#embed "../../Library/Console/Pages/takes-parts.js"
};
static const unsigned char takes_texts_de_js[] = {
#embed "../../Library/Console/Pages/takes-texts-de.js"
};
static const unsigned char takes_texts_en_js[] = {
#embed "../../Library/Console/Pages/takes-texts-en.js"
};
static const unsigned char takes_texts_ko_js[] = {
#embed "../../Library/Console/Pages/takes-texts-ko.js"
};
static const unsigned char takes_js[] = {
#embed "../../Library/Console/Pages/takes.js"
};
static const unsigned char texts_de_js[] = {
#embed "../../Library/Console/Pages/texts-de.js"
};
static const unsigned char texts_en_js[] = {
#embed "../../Library/Console/Pages/texts-en.js"
};
static const unsigned char texts_ko_js[] = {
#embed "../../Library/Console/Pages/texts-ko.js"
};
static const unsigned char texts_js[] = {
#embed "../../Library/Console/Pages/texts.js"
};
static const unsigned char timeline_js[] = {
#embed "../../Library/Console/Pages/timeline.js"
};
static const unsigned char wav_js[] = {
#embed "../../Library/Console/Pages/wav.js"
};
static const unsigned char waveform_js[] = {
#embed "../../Library/Console/Pages/waveform.js"
};

#define PAGE(name, bytes) {name, bytes, sizeof bytes}
static const struct fieldfare_page pages[] = {
    PAGE("api.js", api_js),
    PAGE("app.js", app_js),
    PAGE("console.css", console_css),
    PAGE("day-facts.js", day_facts_js),
    PAGE("day.js", day_js),
    PAGE("deck-parts.js", deck_parts_js),
    PAGE("deck.js", deck_js),
    PAGE("dom.js", dom_js),
    PAGE("format.js", format_js),
    PAGE("icon.png", icon_png),
    PAGE("icon.svg", icon_svg),
    PAGE("index.html", index_html),
    PAGE("kit-parts.js", kit_parts_js),
    PAGE("kit-texts-de.js", kit_texts_de_js),
    PAGE("kit-texts-en.js", kit_texts_en_js),
    PAGE("kit.js", kit_js),
    PAGE("listen-worklet.js", listen_worklet_js),
    PAGE("listen.js", listen_js),
    PAGE("live-spectrum.js", live_spectrum_js),
    PAGE("marks.js", marks_js),
    PAGE("openapi.json", openapi_json),
    PAGE("player-worker.js", player_worker_js),
    PAGE("player.js", player_js),
    PAGE("problem-texts-de.js", problem_texts_de_js),
    PAGE("problem-texts-en.js", problem_texts_en_js),
    PAGE("problem-texts-ko.js", problem_texts_ko_js),
    PAGE("settings-controls.js", settings_controls_js),
    PAGE("settings-values.js", settings_values_js),
    PAGE("sound.js", sound_js),
    PAGE("spectrum-paint.js", spectrum_paint_js),
    PAGE("spectrum.js", spectrum_js),
    PAGE("take-actions.js", take_actions_js),
    PAGE("take-notes.js", take_notes_js),
    PAGE("take.js", take_js),
    PAGE("takes-list.js", takes_list_js),
    PAGE("takes-parts.js", takes_parts_js),
    PAGE("takes-texts-de.js", takes_texts_de_js),
    PAGE("takes-texts-en.js", takes_texts_en_js),
    PAGE("takes-texts-ko.js", takes_texts_ko_js),
    PAGE("takes.js", takes_js),
    PAGE("texts-de.js", texts_de_js),
    PAGE("texts-en.js", texts_en_js),
    PAGE("texts-ko.js", texts_ko_js),
    PAGE("texts.js", texts_js),
    PAGE("timeline.js", timeline_js),
    PAGE("wav.js", wav_js),
    PAGE("waveform.js", waveform_js),
};

size_t fieldfare_page_count(void) { return sizeof pages / sizeof pages[0]; }

struct fieldfare_page fieldfare_page_at(size_t index) { return pages[index]; }
