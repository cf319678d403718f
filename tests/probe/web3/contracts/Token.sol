// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// A token with as many decimals as it is told.
contract Token {
    event Transfer(address indexed from, address indexed to, uint256 value);

    uint8 public decimals;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;

    constructor(uint8 digits, uint256 supply) {
        decimals = digits;
        totalSupply = supply;
        balanceOf[msg.sender] = supply;
        emit Transfer(address(0), msg.sender, supply);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }
}

/// Tells of transfers without an index, as some early tokens did.
contract Oddity {
    event Transfer(address from, address to, uint256 value);

    uint8 public constant decimals = 18;
    mapping(address => uint256) public balanceOf;

    function transfer(address to, uint256 value) external {
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
    }
}

/// Tells of transfers of single things, each with its number.
contract Things {
    event Transfer(address indexed from, address indexed to, uint256 indexed id);

    uint8 public constant decimals = 0;

    function balanceOf(address) external pure returns (uint256) {
        return 1;
    }

    function transfer(address to, uint256 id) external {
        emit Transfer(msg.sender, to, id);
    }
}

/// Takes coins, and passes them on or refuses them.
contract Purse {
    bool public shut;

    function close() external {
        shut = true;
    }

    function pass(address payable to, uint256 value) external {
        (bool good, ) = to.call{value: value}("");
        require(good);
    }

    receive() external payable {
        require(!shut);
    }
}
