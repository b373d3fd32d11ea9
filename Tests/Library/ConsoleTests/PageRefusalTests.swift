import Control
import DiskCalls
import Testing
import Transport

@testable import Console

@Suite(.waitsOnNamedThreads) struct PageRefusalTests {
    @Test func `a problem has its sentence, and the sentence's name and parts`() {
        #expect(
            jsonText(Problem(.wrongCode(left: 3)).document)
                == #"{"code":"denied","detail":"pair: the code is wrong: 3 more wrong ones end pairing for all phones","#
                + #""reason":"wrong-code","status":403,"title":"Forbidden","type":"about:blank","values":{"left":3}}"#)
        #expect(
            jsonText(Problem(.settingsByHand(file: "/etc/f.toml")).document)
                == #"{"code":"busy","detail":"settings: fieldfare-settings.path does not run here: change /etc/f.toml by "#
                + #"hand","reason":"settings-by-hand","status":409,"title":"Conflict","type":"about:blank","#
                + #""values":{"file":"/etc/f.toml"}}"#)
        #expect(
            jsonText(Problem(Refusal(.noStick)).document)
                == #"{"code":"not-found","detail":"eject: no stick is in","reason":"no-stick","status":404,"#
                + #""title":"Not Found","type":"about:blank","values":{}}"#)
        #expect(
            jsonText(Problem(Refusal(.usage, "log: limit: found 0")).document)
                == #"{"code":"usage","detail":"log: limit: found 0","status":400,"title":"Bad Request","#
                + #""type":"about:blank"}"#)
    }
}
