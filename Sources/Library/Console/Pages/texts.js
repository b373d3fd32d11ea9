// The texts of the console, one catalogue for each language. `{name}` stands for a value. A team adds its own language as one more object
// here.

const en = {
  skip: 'Skip to the page', nav: 'Pages', 'nav.deck': 'Deck', 'nav.takes': 'Takes', 'nav.kit': 'Kit',
  'page.failed': 'This page could not be shown', 'page.again': 'Try again', 'ask.yes': 'Yes', 'ask.no': 'Cancel',
  'connection.none': 'The kit cannot be reached. Join its network; the page goes on by itself.',
  'connection.lost': 'The connection to the kit is lost. What is shown is old; the page goes on by itself.',
  'connection.back': 'The kit is connected.',
  'connection.unread': 'The kit did not answer. Try again.',
  'connection.unknown': 'The kit did not answer. Whether this was done is not known: look once the kit is connected.',
  'notice.close': 'Close the message',
  'secure.page': 'Secure page', 'secure.why': 'It is encrypted, can share clips, and can add where you are to a memo. The browser warns first: go on if the certificate’s fingerprint is the one that the kit’s label has.',
  'pair.title': 'Pair this phone',
  'pair.how': 'Hold the play button of the kit for 3 seconds, until the upload lamp flickers. Then type the six digits of its label: so the kit knows that it is you.',
  'pair.name': 'Name of this phone', 'pair.phone': 'Phone', 'pair.do': 'Pair this phone', 'pair.open': 'The kit accepts phones now.',
  'pair.waiting': 'Waiting for the play button …', 'pair.code': 'Six digits',
  'pair.wrong-codes': 'Too many codes were wrong: no phone can be paired now. Hold the play button again.', 'pair.paired': 'A phone was paired. Hold the play button again to pair another one.',
  'pair.password': 'Password', 'pair.with': 'Pair by the password',
  'deck.title': 'Deck', 'state.idle': 'Ready', 'state.off': 'Not armed', 'state.recording': 'Recording', 'state.playing': 'Playing', 'state.paused': 'Paused', 'state.fault': 'Cannot record',
  'deck.safe': 'The last second is on the disk.', 'deck.unsafe': '{seconds} s are not on the disk yet.', 'deck.armed': 'Press record and it records.',
  'deck.record': 'Record', 'deck.stop': 'Stop', 'deck.play': 'Play', 'deck.pause': 'Pause', 'deck.resume': 'Play on', 'deck.back': '−5 s', 'deck.forward': '+5 s', 'deck.mark': 'Mark',
  'deck.back.long': 'Back 5 seconds', 'deck.forward.long': 'Forward 5 seconds', 'deck.note': 'Note of the marker', 'deck.marked': 'Marker set.',
  'deck.level': 'Level', 'deck.channel': 'Channel {n}', 'deck.clip': 'Clip', 'deck.clip.reset': 'Channel {n} clipped: reset', 'deck.noclip': 'Channel {n} has not clipped', 'deck.silence': 'silent',
  'deck.waveform': 'Waveform of what is sampled now', 'deck.faults': 'What is wrong', 'deck.filter': 'Filter',
  'deck.filter.low': 'Low-pass, Hz, auto or off', 'deck.filter.high': 'High-pass, Hz or off', 'deck.filter.slope': 'Slope, dB per octave', 'deck.filter.set': 'Change the filter',
  'deck.filter.text': 'low-pass {low}, high-pass {high}, {slope} dB per octave', off: 'off',
  'deck.facts': 'State of the kit', 'deck.take': 'Take', 'deck.next': 'Selected take', 'deck.left': 'Room for', 'deck.left.value': '{time} ({size} free)', 'deck.card': 'Card', 'deck.clock': 'Clock', 'deck.schedule': 'Records by itself', 'deck.schedule.value': '{from} to {until}',
  'deck.queue': 'Upload', 'queue.none': 'no store is set', 'queue.waiting': '{n} waiting, {size}', 'queue.done': 'all is sent', 'queue.paused': 'paused', 'queue.held': '{n} held', 'queue.sending': 'sending {take}: {percent} %',
  'stick.offer': 'This kit does not know the stick that is in, and sends nothing to it.', 'stick.adopt': 'Send takes to this stick', 'stick.done': 'Takes are sent to the stick from now on.',
  'deck.nocard': 'no card', 'deck.listen': 'Listen live', 'deck.listener': 'One phone listens.', 'deck.listeners': '{n} phones listen.', 'deck.look': 'This phone may look only.', 'deck.pair': 'Pair it to do more',
  'lamps': 'What the lamps show', 'lamp.record': 'Record', 'lamp.play': 'Play', 'lamp.upload': 'Upload', 'lamp.fault': 'Fault',
  'lamp.on': 'lit', 'lamp.off': 'dark', 'lamp.fast': 'blinks fast', 'lamp.slow': 'blinks slowly', 'lamp.flash': 'one flash every 3 s', 'lamp.flicker': 'flickers: phones may pair', 'lamp.offer': 'three quick flashes every 5 s: an unknown stick is in', 'lamp.count': '{n} flashes, pause',
  'clock.ntp': 'set by the network', 'clock.rtc': 'from the clock chip', 'clock.manual': 'set by a person', 'clock.unset': 'not set',
  'clock.ask': 'The kit’s clock is not set: takes would have the wrong time.', 'clock.differs': 'The kit’s clock differs from this phone’s by {seconds} s.', 'clock.set': 'Set it from this phone', 'clock.done': 'The kit’s clock was set.',
  'help.1': 'Plug the microphone in, or look at its cable.', 'help.2': 'Delete takes that are safe at home, or put another stick in.', 'help.3': 'Connect a network, or set the clock from this phone.',
  'help.4': 'Change the card or stick: it fails.', 'help.5': 'Record at a lower rate, or with fewer channels; use a faster card.', 'help.6': 'Look at the upload queue: a store refuses takes.',
  'help.7': 'Correct the settings.', 'help.8': 'Turn the gain down if it clips; look at cable and microphone if it is silent.',
  'kit.title': 'Kit', 'kit.cards': 'Sound cards', 'kit.lines': 'Buttons and lamps', 'kit.doctor': 'Doctor', 'kit.look': 'Look', 'kit.again': 'Look again', 'kit.none': 'Nothing was found.',
  'card.names': 'In the settings', 'card.records': 'Records', 'card.plays': 'Plays', 'card.offer': '{format}, channels: {channels}, kHz: {rates}', 'card.nothing': 'nothing', 'card.busy': 'Held by', 'card.error': 'Error',
  'line.in': 'input', 'line.out': 'output', 'line.used': 'in use', 'line.free': 'free',
  'lamps.round': 'Light the lamps one by one', 'lamps.ask': 'Did the lamp “{name}” light up on the kit?', 'lamps.yes': 'It lit up', 'lamps.no': 'It stayed dark', 'lamps.lit': 'works', 'lamps.dark': 'stayed dark: look at its wire, and at its line in the settings',
  'gain.title': 'Gain', 'gain.label': 'Gain of the card', 'gain.agc': 'Automatic gain control', 'gain.none': 'The card has no gain that can be set here.', 'gain.note': 'In force until the recorder restarts; the settings keep it for good.',
  'log.title': 'Log', 'log.more': 'Older lines',
  'support.make': 'File for support', 'support.about': 'What somebody far away needs to understand the kit: logs, settings, history, hardware. No sound, and no password.',
  'update.title': 'Update', 'update.file': 'File of the update', 'update.send': 'Send', 'update.none': 'update: no file is chosen: choose one that ends in .update', 'update.sending': '{name} is being sent.',
  'update.unavailable': 'This machine does not run from a kit’s image: install the new packages with apt.', 'update.idle': 'The kit verifies an update, tries it once nothing is recorded or played, and goes back by itself if it does not work.', 'update.checking': 'The update is being verified and unpacked.', 'update.waiting': 'The kit starts again once nothing is recorded or played.', 'update.trial': 'The update is being tried: within two minutes it is in force, or the former version is again.',
  'history.title': 'History', 'history.temperature': 'Temperature', 'history.voltage': 'Supply', 'history.free': 'Free space', 'history.range': '{name}: {now} {unit}, from {least} to {most} {unit}',
  'history.start': 'The recorder started,', 'history.before.none': 'for the first time', 'history.before.signal': 'it had been ended by the system', 'history.before.person': 'a person had switched the kit off',
  'history.before.battery': 'it had switched itself off: the battery was nearly empty', 'history.before.schedule': 'it had switched itself off between the hours of its schedule', 'history.before.crash': 'it had crashed', 'history.before.unknown': 'what was before cannot be read', 'history.before.power-cut': 'the power had been cut', 'history.before.watchdog': 'the watchdog had reset the kit',
  'history.end.signal': 'The recorder was ended by the system.', 'history.end.person': 'A person switched the kit off.', 'history.end.battery': 'The kit switched itself off: the battery was nearly empty.', 'history.end.schedule': 'The kit switched itself off: nothing is scheduled for a while.',
  'history.paired': '{phone} was paired.', 'history.removed': '{phone} was removed by {by}.', 'history.settings': 'Settings changed by {by}: {keys}', 'history.wrong-codes': 'Too many wrong codes ended pairing.', 'history.stick': 'The stick that was in was adopted by {by}.', 'history.nobody': 'a phone that is not paired',
  'history.fault': 'Fault {n}: {message}', 'history.left': '{n} events were left out: more than 600 in an hour.',
  'kit.clock': 'Clock', 'kit.time': 'The kit’s time', 'kit.storage': 'Storage', 'kit.takes': 'Takes', 'kit.folder': 'Folder', 'kit.free': 'Free', 'kit.phones': 'Paired phones', 'kit.since': 'since {date}',
  'kit.this': 'this phone', 'kit.remove': 'Remove {name}', 'kit.remove.ask': 'Remove {name}? It must be paired again.', 'kit.page': 'This page', 'kit.theme': 'Colours', 'theme.': 'As the phone', 'theme.light': 'Light', 'theme.dark': 'Dark', 'theme.sun': 'Sunlight', 'kit.language': 'Language',
  'kit.version': 'Version', 'kit.eject': 'Give the stick back', 'kit.ejected': 'The stick may be pulled once the lamps say so.', 'kit.queue': 'Upload queue', 'kit.retry': 'Try everything now', 'kit.pause': 'Pause', 'kit.resume': 'Go on',
  'kit.settings': 'Settings', 'settings.save': 'Save changes', 'settings.default': 'default', 'settings.allowed': 'Allowed: {values}', 'settings.byHand': 'Changed in {path} alone: it decides where sound and passwords go.', 'settings.saved': 'Saved. The kit applies it when nothing is recorded.', 'settings.nothing': 'Nothing was changed.', 'settings.phoneZone': 'This phone’s: {zone}',
};

const de = {
  skip: 'Zum Inhalt', nav: 'Seiten', 'nav.deck': 'Deck', 'nav.takes': 'Aufnahmen', 'nav.kit': 'Gerät',
  'page.failed': 'Diese Seite lässt sich nicht anzeigen', 'page.again': 'Noch einmal versuchen', 'ask.yes': 'Ja', 'ask.no': 'Abbrechen',
  'connection.none': 'Das Gerät ist nicht erreichbar. Verbinden Sie sich mit seinem Netz; die Seite macht von selbst weiter.',
  'connection.lost': 'Die Verbindung zum Gerät ist unterbrochen. Die Anzeige ist veraltet; die Seite macht von selbst weiter.',
  'connection.back': 'Das Gerät ist verbunden.',
  'connection.unread': 'Das Gerät hat nicht geantwortet. Versuchen Sie es noch einmal.',
  'connection.unknown': 'Das Gerät hat nicht geantwortet. Ob dies geschehen ist, ist nicht bekannt: Sehen Sie nach, sobald es verbunden ist.',
  'notice.close': 'Meldung schließen',
  'secure.page': 'Sichere Seite', 'secure.why': 'Sie ist verschlüsselt, kann Ausschnitte teilen und Ihren Standort in eine Notiz einfügen. Der Browser warnt zuerst: Fahren Sie fort, wenn der Fingerabdruck des Zertifikats der des Etiketts ist.',
  'pair.title': 'Dieses Telefon koppeln',
  'pair.how': 'Halten Sie am Gerät die Wiedergabetaste 3 Sekunden lang gedrückt, bis die Upload-Lampe flackert. Geben Sie dann die sechs Ziffern seines Etiketts ein: Daran erkennt das Gerät, dass Sie es sind.',
  'pair.name': 'Name dieses Telefons', 'pair.phone': 'Telefon', 'pair.do': 'Dieses Telefon koppeln', 'pair.open': 'Das Gerät nimmt jetzt Telefone an.',
  'pair.waiting': 'Wartet auf die Wiedergabetaste …', 'pair.code': 'Sechs Ziffern',
  'pair.wrong-codes': 'Zu viele Codes waren falsch: Jetzt lässt sich kein Telefon koppeln. Halten Sie die Wiedergabetaste noch einmal gedrückt.', 'pair.paired': 'Ein Telefon wurde gekoppelt. Für ein weiteres die Wiedergabetaste noch einmal gedrückt halten.',
  'pair.password': 'Passwort', 'pair.with': 'Mit dem Passwort koppeln',
  'deck.title': 'Deck', 'state.idle': 'Bereit', 'state.off': 'Nicht bereit', 'state.recording': 'Aufnahme', 'state.playing': 'Wiedergabe', 'state.paused': 'Pause', 'state.fault': 'Aufnahme nicht möglich',
  'deck.safe': 'Die letzte Sekunde ist gespeichert.', 'deck.unsafe': '{seconds} s sind noch nicht gespeichert.', 'deck.armed': 'Ein Druck auf Aufnahme genügt.',
  'deck.record': 'Aufnahme', 'deck.stop': 'Stopp', 'deck.play': 'Wiedergabe', 'deck.pause': 'Pause', 'deck.resume': 'Weiter', 'deck.back': '−5 s', 'deck.forward': '+5 s', 'deck.mark': 'Marke',
  'deck.back.long': '5 Sekunden zurück', 'deck.forward.long': '5 Sekunden vor', 'deck.note': 'Notiz zur Marke', 'deck.marked': 'Marke gesetzt.',
  'deck.level': 'Pegel', 'deck.channel': 'Kanal {n}', 'deck.clip': 'Clip', 'deck.clip.reset': 'Kanal {n} übersteuert: zurücksetzen', 'deck.noclip': 'Kanal {n} ist nicht übersteuert', 'deck.silence': 'still',
  'deck.waveform': 'Wellenform dessen, was gerade abgetastet wird', 'deck.faults': 'Was nicht stimmt', 'deck.filter': 'Filter',
  'deck.filter.low': 'Tiefpass, Hz, auto oder off', 'deck.filter.high': 'Hochpass, Hz oder off', 'deck.filter.slope': 'Steilheit, dB je Oktave', 'deck.filter.set': 'Filter ändern',
  'deck.filter.text': 'Tiefpass {low}, Hochpass {high}, {slope} dB je Oktave', off: 'aus',
  'deck.facts': 'Zustand des Geräts', 'deck.take': 'Aufnahme', 'deck.next': 'Gewählte Aufnahme', 'deck.left': 'Platz für', 'deck.left.value': '{time} ({size} frei)', 'deck.card': 'Karte', 'deck.clock': 'Uhr', 'deck.schedule': 'Nimmt von selbst auf', 'deck.schedule.value': '{from} bis {until}',
  'deck.queue': 'Upload', 'queue.none': 'kein Ziel eingestellt', 'queue.waiting': '{n} warten, {size}', 'queue.done': 'alles gesendet', 'queue.paused': 'angehalten', 'queue.held': '{n} zurückgehalten', 'queue.sending': 'sendet {take}: {percent} %',
  'stick.offer': 'Dieses Gerät kennt den Stick nicht, der steckt, und sendet nichts dorthin.', 'stick.adopt': 'Auf diesen Stick senden', 'stick.done': 'Ab jetzt werden Aufnahmen auf den Stick gesendet.',
  'deck.nocard': 'keine Karte', 'deck.listen': 'Live mithören', 'deck.listener': 'Ein Telefon hört mit.', 'deck.listeners': '{n} Telefone hören mit.', 'deck.look': 'Dieses Telefon darf nur zusehen.', 'deck.pair': 'Koppeln, um mehr zu dürfen',
  'lamps': 'Was die Lampen zeigen', 'lamp.record': 'Aufnahme', 'lamp.play': 'Wiedergabe', 'lamp.upload': 'Upload', 'lamp.fault': 'Fehler',
  'lamp.on': 'an', 'lamp.off': 'aus', 'lamp.fast': 'blinkt schnell', 'lamp.slow': 'blinkt langsam', 'lamp.flash': 'alle 3 s ein Blitz', 'lamp.flicker': 'flackert: Telefone dürfen koppeln', 'lamp.offer': 'alle 5 s drei kurze Blitze: ein unbekannter Stick steckt', 'lamp.count': '{n} Blitze, Pause',
  'clock.ntp': 'vom Netz gestellt', 'clock.rtc': 'aus dem Uhrenbaustein', 'clock.manual': 'von Hand gestellt', 'clock.unset': 'nicht gestellt',
  'clock.ask': 'Die Uhr des Geräts ist nicht gestellt: Aufnahmen bekämen eine falsche Zeit.', 'clock.differs': 'Die Uhr des Geräts weicht um {seconds} s von der des Telefons ab.', 'clock.set': 'Nach diesem Telefon stellen', 'clock.done': 'Die Uhr des Geräts wurde gestellt.',
  'help.1': 'Mikrofon anstecken oder sein Kabel prüfen.', 'help.2': 'Gesicherte Aufnahmen löschen oder einen anderen Stick einstecken.', 'help.3': 'Netz verbinden oder die Uhr nach diesem Telefon stellen.',
  'help.4': 'Karte oder Stick tauschen: Der Speicher versagt.', 'help.5': 'Mit niedrigerer Rate oder weniger Kanälen aufnehmen; schnellere Karte verwenden.', 'help.6': 'Upload-Liste ansehen: Ein Ziel lehnt Aufnahmen ab.',
  'help.7': 'Einstellungen berichtigen.', 'help.8': 'Bei Übersteuerung Verstärkung verringern; bei Stille Kabel und Mikrofon prüfen.',
  'kit.title': 'Gerät', 'kit.cards': 'Soundkarten', 'kit.lines': 'Tasten und Lampen', 'kit.doctor': 'Selbsttest', 'kit.look': 'Nachsehen', 'kit.again': 'Erneut nachsehen', 'kit.none': 'Nichts gefunden.',
  'card.names': 'In den Einstellungen', 'card.records': 'Nimmt auf', 'card.plays': 'Spielt', 'card.offer': '{format}, Kanäle: {channels}, kHz: {rates}', 'card.nothing': 'nichts', 'card.busy': 'Belegt von', 'card.error': 'Fehler',
  'line.in': 'Eingang', 'line.out': 'Ausgang', 'line.used': 'belegt', 'line.free': 'frei',
  'lamps.round': 'Lampen der Reihe nach leuchten lassen', 'lamps.ask': 'Hat am Gerät die Lampe „{name}“ geleuchtet?', 'lamps.yes': 'Sie hat geleuchtet', 'lamps.no': 'Sie blieb dunkel', 'lamps.lit': 'in Ordnung', 'lamps.dark': 'blieb dunkel: Draht und Leitung in den Einstellungen prüfen',
  'gain.title': 'Verstärkung', 'gain.label': 'Verstärkung der Karte', 'gain.agc': 'Automatische Verstärkung', 'gain.none': 'Die Karte hat keine Verstärkung, die sich hier stellen lässt.', 'gain.note': 'Gilt, bis der Rekorder neu startet; auf Dauer gehört sie in die Einstellungen.',
  'log.title': 'Protokoll', 'log.more': 'Ältere Zeilen',
  'support.make': 'Datei für die Hilfe', 'support.about': 'Was jemand aus der Ferne braucht, um das Gerät zu verstehen: Protokolle, Einstellungen, Verlauf, Bauteile. Kein Ton und kein Passwort.',
  'update.title': 'Aktualisierung', 'update.file': 'Datei der Aktualisierung', 'update.send': 'Senden', 'update.none': 'Es ist keine Datei gewählt: eine wählen, die auf .update endet', 'update.sending': '{name} wird gesendet.',
  'update.unavailable': 'Dieser Rechner läuft nicht vom Abbild eines Geräts: die neuen Pakete mit apt installieren.', 'update.idle': 'Das Gerät prüft eine Aktualisierung, probiert sie, sobald nichts aufgenommen oder abgespielt wird, und kehrt von selbst zurück, wenn sie nicht geht.', 'update.checking': 'Die Aktualisierung wird geprüft und entpackt.', 'update.waiting': 'Das Gerät startet neu, sobald nichts aufgenommen oder abgespielt wird.', 'update.trial': 'Die Aktualisierung wird probiert: in zwei Minuten gilt sie, oder die frühere Fassung gilt wieder.',
  'history.title': 'Verlauf', 'history.temperature': 'Temperatur', 'history.voltage': 'Versorgung', 'history.free': 'Freier Speicher', 'history.range': '{name}: {now} {unit}, von {least} bis {most} {unit}',
  'history.start': 'Rekorder gestartet,', 'history.before.none': 'zum ersten Mal', 'history.before.signal': 'davor vom System beendet', 'history.before.person': 'davor schaltete jemand das Gerät aus',
  'history.before.battery': 'davor schaltete sich das Gerät aus: der Akku war fast leer', 'history.before.schedule': 'davor schaltete sich das Gerät zwischen seinen Aufnahmezeiten aus', 'history.before.crash': 'davor abgestürzt', 'history.before.unknown': 'was davor war, ist nicht lesbar', 'history.before.power-cut': 'davor wurde der Strom unterbrochen', 'history.before.watchdog': 'davor setzte der Watchdog das Gerät zurück',
  'history.end.signal': 'Rekorder vom System beendet.', 'history.end.person': 'Jemand schaltete das Gerät aus.', 'history.end.battery': 'Das Gerät schaltete sich aus: der Akku war fast leer.', 'history.end.schedule': 'Das Gerät schaltete sich aus: es hat eine Weile nichts aufzunehmen.',
  'history.paired': '{phone} wurde gekoppelt.', 'history.removed': '{phone} wurde von {by} entfernt.', 'history.settings': 'Einstellungen von {by} geändert: {keys}', 'history.wrong-codes': 'Zu viele falsche Codes beendeten das Koppeln.', 'history.stick': 'Der Stick wurde von {by} zugelassen.', 'history.nobody': 'einem nicht gekoppelten Telefon',
  'history.fault': 'Störung {n}: {message}', 'history.left': '{n} Ereignisse fehlen: mehr als 600 in einer Stunde.',
  'kit.clock': 'Uhr', 'kit.time': 'Zeit des Geräts', 'kit.storage': 'Speicher', 'kit.takes': 'Aufnahmen', 'kit.folder': 'Ordner', 'kit.free': 'Frei', 'kit.phones': 'Gekoppelte Telefone', 'kit.since': 'seit {date}',
  'kit.this': 'dieses Telefon', 'kit.remove': '{name} entfernen', 'kit.remove.ask': '{name} entfernen? Es muss dann neu gekoppelt werden.', 'kit.page': 'Diese Seite', 'kit.theme': 'Farben', 'theme.': 'Wie das Telefon', 'theme.light': 'Hell', 'theme.dark': 'Dunkel', 'theme.sun': 'Sonnenlicht', 'kit.language': 'Sprache',
  'kit.version': 'Version', 'kit.eject': 'Stick freigeben', 'kit.ejected': 'Der Stick darf gezogen werden, sobald die Lampen es zeigen.', 'kit.queue': 'Upload-Liste', 'kit.retry': 'Alles jetzt versuchen', 'kit.pause': 'Anhalten', 'kit.resume': 'Fortsetzen',
  'kit.settings': 'Einstellungen', 'settings.save': 'Änderungen speichern', 'settings.default': 'Vorgabe', 'settings.allowed': 'Erlaubt: {values}', 'settings.byHand': 'Wird nur in {path} geändert: Es bestimmt, wohin Ton und Passwörter gehen.', 'settings.saved': 'Gespeichert. Es gilt, sobald nichts aufgenommen wird.', 'settings.nothing': 'Nichts wurde geändert.', 'settings.phoneZone': 'Die des Telefons: {zone}',
};

/** The texts of each language, by its name. */
export const catalogues = { en, de };

/** The available languages, by their own names. */
export const languageNames = { en: 'English', de: 'Deutsch' };

/** The page's language: the chosen one, else the browser's first available one, else English. */
export function language() {
  const chosen = localStorage.getItem('language');
  const wanted = [chosen, ...navigator.languages.map((name) => name.slice(0, 2).toLowerCase())];
  return wanted.find((name) => name in catalogues) ?? 'en';
}

/** Stores the language in this browser. */
export function setLanguage(name) { localStorage.setItem('language', name); }

/** Adds the texts of a part of the console. */
export function addTexts(name, texts) { Object.assign(catalogues[name] ??= {}, texts); }

/** A text with its values inserted. */
export function t(key, values = {}) {
  const text = catalogues[language()][key] ?? en[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}
