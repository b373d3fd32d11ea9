import DiskCalls
import Testing

@testable import Console

@Suite(.waitsOnNamedThreads) struct LeanTextTests {
    private func lean(_ text: String, as kind: LeanText = .script) -> String {
        String(decoding: kind.lean(Array(text.utf8)), as: UTF8.self)
    }

    @Test func `indentation, empty lines and comments on lines of their own are left out`() {
        let script = """
            // The page.
            import { h } from './dom.js';

            /**
             * Makes “it”.
             * @param {string} name
             */
            export function it(name) {
              /** A short one. */
              // Another one.
              const url = 'http://kit'; // This stays.
              return name
                * 2;
            }
            """
        #expect(
            lean(script)
                == "import{h}from './dom.js';export function it(name){const url='http://kit';// This stays.\nreturn name\n*2;}\n"
        )
        #expect(lean("/* Colours. */\na {\n  color: red;\n}\n", as: .style) == "a{color:red;}")
        #expect(lean("") == "" && lean("\n\n") == "" && lean("/* open\nx\n") == "")
    }

    @Test func `spaces and line ends of scripts are left out beside punctuation, and only there`() {
        #expect(
            lean("if (a && !b) return [ -1, c ? d : e ];\nf(x =>\n  x);\n")
                == "if(a&&!b)return[-1,c?d:e];f(x=>\nx);")
        #expect(lean("a = b + +c++ + d\n- e in f;\n}\n(g)();\n") == "a=b+ +c++ +d\n- e in f;}\n(g)();")
        // Strings, and the rest of a line from a slash or a backquote on.
        #expect(lean(#"f('a ; b', "it's , {" , 'don\'t ; \\' , c);"#) == #"f('a ; b',"it's , {",'don\'t ; \\',c);"#)
        #expect(lean("a = b / c;\nb = /'b = c/;\nc = `b = ${c, d}`;") == "a=b / c;\nb=/'b = c/;\nc=`b = ${c, d}`;\n")
    }

    @Test func `spaces and line ends of style sheets are left out where no selector or value needs them`() {
        #expect(
            lean(".a :is(.b, .c), .d > .e { margin: 0 auto; --f: calc(1px + (2 * 3px)) }", as: .style)
                == ".a :is(.b,.c),.d > .e{margin:0 auto;--f:calc(1px + (2 * 3px))}")
        let query = "@media (min-width: 2rem) and (hover: none) {\n  b::before { content: '; ' }\n}\n.g\n.h {}\n"
        #expect(
            lean(query, as: .style)
                == "@media (min-width:2rem) and (hover:none){b::before{content:'; '}}.g\n.h{}")
    }
}
